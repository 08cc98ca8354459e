"""A real `doorbuster sandbox-pay` on a free loopback port, and a merchant that receives its webhooks."""
import base64
import hashlib
import hmac
import http.client
import json
import re
import secrets
import signal
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from lib.server import BINARY, START_S_MAX, STOP_S_MAX, clean_environment

READY = re.compile(r"sandbox-pay is ready\s+url=http://127\.0\.0\.1:(\d+)")


def webhook_secret() -> str:
    return "whsec_" + base64.b64encode(secrets.token_bytes(32)).decode()


def is_signed(secret: str, headers: dict, body: bytes) -> bool:
    """As https://www.standardwebhooks.com says; the time is not looked at."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    expected = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    return expected in headers["webhook-signature"].split(" ")


class SandboxPay:
    """One provider at a time; start again after it ended to get the next one on the same data."""

    def __init__(self, folder, *flags: str, webhook_url: str = None, secret: str = None):
        self.folder, self.flags, self.webhook_url = folder, flags, webhook_url
        self.key, self.secret = secrets.token_hex(16), secret or webhook_secret()
        self.process = self.port = None

    def start(self) -> "SandboxPay":
        urls = ["--webhook-url", self.webhook_url] if self.webhook_url else []
        port = self.port or 0  # the same one again: a merchant keeps the address
        self.process = subprocess.Popen(
            [BINARY, "sandbox-pay", "--listen", f"127.0.0.1:{port}", *urls, *self.flags], cwd=self.folder,
            env=clean_environment(SANDBOX_PAY_KEY=self.key, SANDBOX_PAY_WEBHOOK_SECRET=self.secret),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        watchdog = threading.Timer(START_S_MAX, self.process.kill)
        watchdog.start()
        line = self.process.stdout.readline()
        watchdog.cancel()
        found = READY.search(line)
        if not found:
            self.process.kill()
            raise AssertionError(f"sandbox-pay is not ready: exit status {self.process.wait()}, it said {line!r}")
        self.port = int(found[1])
        return self

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def call(self, method: str, path: str, body=None, key: str = None, headers: dict = None):
        """The status and the JSON of an answer, or its text where it is none."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            sent = {"Authorization": f"Bearer {self.key if key is None else key}", **(headers or {})}
            content = None if body is None else json.dumps(body).encode()
            connection.request(method, path, content, sent)
            answer = connection.getresponse()
            text = answer.read().decode()
            is_json = answer.headers.get("Content-Type", "") == "application/json"
            return answer.status, json.loads(text) if is_json else text
        finally:
            connection.close()

    def create(self, key: str, amount_minor: int = 1999, currency: str = "CNY", reference: str = "order-1", **more):
        return self.call("PUT", f"/v1/payments/{key}", {"amount_minor": amount_minor, "currency": currency,
                                                        "reference": reference, **more})

    def act(self, key: str, verb: str):
        return self.call("POST", f"/v1/payments/{key}/{verb}")

    def state(self, key: str) -> str:
        return self.call("GET", f"/v1/payments/{key}")[1]["state"]

    def set_faults(self, *names: str) -> None:
        status, answer = self.call("PUT", "/v1/faults", {"faults": list(names)})
        assert status == 200, answer

    def webhook_counts(self) -> dict:
        return self.call("GET", "/v1/faults")[1]["webhooks"]

    def payments(self) -> list:
        """All of them, in the order of their creation."""
        found, after = [], 0
        while after is not None:
            page = self.call("GET", f"/v1/payments?after={after}&limit=1000")[1]
            found += page["payments"]
            after = page["next"]
        return found

    def stop(self) -> int:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self._ended()

    def kill(self) -> int:
        if self.process.poll() is None:
            self.process.kill()
        return self._ended()

    def _ended(self) -> int:
        status = self.process.wait(STOP_S_MAX)
        self.process.stdout.close()
        return status

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process is not None and self.process.poll() is None:
            self.kill()


class Merchant:
    """Takes webhooks and keeps them. `answer` is what each hears."""

    def __init__(self):
        self.received, self.answer = [], 204  # (headers in lower case, body)
        self._changed = threading.Condition()
        merchant = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                headers = {name.lower(): value for name, value in self.headers.items()}
                with merchant._changed:
                    merchant.received.append((headers, body))
                    status = merchant.answer
                    merchant._changed.notify_all()
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}/webhook"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def wait_until(self, holds, seconds_max: float = 30):
        """`holds` is asked of everything received, until it says yes."""
        with self._changed:
            assert self._changed.wait_for(lambda: holds(self.received), seconds_max), self.received

    def wait_for_event(self, kind: str, key: str, seconds_max: float = 30):
        """The headers and the body of the first such event."""
        def matching(received):
            return [one for one in received
                    if (event := json.loads(one[1]))["type"] == kind and event["data"]["key"] == key]
        self.wait_until(matching, seconds_max)
        return matching(self.received)[0]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()

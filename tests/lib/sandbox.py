"""A real `doorbuster sandbox-pay` on a free loopback port, and the settings of a shop that is paid through it."""
import contextlib
import re
import secrets
import signal
import subprocess
import threading

from lib.client import Answer, Client
from lib.ports import free_port
from lib.server import BINARY, START_S_MAX, STOP_S_MAX, clean_environment
from lib.signing import webhook_secret

WEBHOOKS = "/v1/payments/webhook"  # where a shop hears of its payments
READY = re.compile(r"sandbox-pay is ready\s+url=http://127\.0\.0\.1:\d+")
EVERY_FAULT = ["delayed", "repeated", "reordered", "lost", "forged", "underpaid", "wrong_currency",
               "captured_after_void", "unreachable"]


class Sandbox:
    """One provider at a time; start again after it ended to get the next one on the same port and data."""

    def __init__(self, folder, webhook_url: str = None, faults=(), seed: int = 1):
        self.folder, self.webhook_url, self.faults, self.seed = folder, webhook_url, list(faults), seed
        self.data = folder / "payments.log"
        self.key, self.secret = secrets.token_hex(16), webhook_secret()
        self.process = None
        self.port = free_port()  # it comes back to it: one of the system's could be a client's by then
        self.said = []

    def start(self) -> "Sandbox":
        self.process = subprocess.Popen(
            [BINARY, "sandbox-pay", "--listen", f"127.0.0.1:{self.port}",
             *(["--webhook-url", self.webhook_url] if self.webhook_url else []),
             "--faults", ",".join(self.faults) or "none", "--seed", str(self.seed), "--data", self.data],
            cwd=self.folder, env=clean_environment(SANDBOX_PAY_KEY=self.key, SANDBOX_PAY_WEBHOOK_SECRET=self.secret),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        heard, stdout = threading.Event(), self.process.stdout

        def read():
            for line in stdout:
                self.said.append(line)
                if READY.search(line):
                    heard.set()
            stdout.close()
            heard.set()  # the end, too, is something to hear
        threading.Thread(target=read, daemon=True).start()
        assert heard.wait(START_S_MAX) and self.process.poll() is None, "".join(self.said)
        return self

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def settings(self) -> dict:
        """What a server needs to be paid through it."""
        return {"DOORBUSTER_PAYMENTS__PROVIDER_URL": self.url,
                "DOORBUSTER_PAYMENTS__PROVIDER_KEY": self.key,
                "DOORBUSTER_PAYMENTS__WEBHOOK_SECRET": self.secret}

    def call(self, method: str, path: str, body=None, key: str = None, **headers: str) -> Answer:
        """With the merchant's key, or with another one."""
        client = Client(self.port, "provider", self.key if key is None else key)
        try:
            return client.request(method, path, body, headers={name.replace("_", "-"): value
                                                               for name, value in headers.items()})
        finally:
            client.close()

    def create(self, key: str, amount_minor: int = 1999, currency: str = "CNY", reference: str = "order-1",
               **more) -> Answer:
        return self.call("PUT", f"/v1/payments/{key}", {"amount_minor": amount_minor, "currency": currency,
                                                        "reference": reference, **more})

    def act(self, key: str, verb: str) -> Answer:
        """What the buyer does on the pay page (capture, decline), or the merchant (void, refund)."""
        return self.call("POST", f"/v1/payments/{key}/{verb}")

    def state(self, key: str) -> str:
        return self.call("GET", f"/v1/payments/{key}").json["state"]

    def set_faults(self, faults) -> None:
        answer = self.call("PUT", "/v1/faults", {"faults": list(faults)})
        assert answer.status == 200, answer.body

    def webhook_counts(self) -> dict:
        return self.call("GET", "/v1/faults").json["webhooks"]

    def payments(self) -> list:
        """All of them as they are now, in the order of their creation."""
        found, after = [], 0
        while after is not None:
            page = self.call("GET", f"/v1/payments?after={after}&limit=500").json
            found += page["payments"]
            after = page["next"]
        return found

    def stop(self) -> int:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(STOP_S_MAX)

    def kill(self) -> int:
        if self.process.poll() is None:
            self.process.kill()
        return self.process.wait(STOP_S_MAX)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process is not None:
            self.kill()


@contextlib.contextmanager
def provider_for(folder, port: int):
    """Running, for a shop whose webhooks come in at this port. It must stop in order."""
    with Sandbox(folder, f"http://127.0.0.1:{port}{WEBHOOKS}") as provider:
        yield provider.start()
        assert provider.stop() == 0, provider.said

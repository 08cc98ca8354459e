"""A real `doorbuster sandbox-pay` on a free loopback port, and a shop that is paid through it."""
import base64
import hashlib
import hmac
import re
import secrets
import socket
import subprocess
import threading
import time

from lib.client import Client
from lib.server import BINARY, START_S_MAX, STOP_S_MAX, clean_environment

READY = re.compile(r"sandbox-pay is ready\s+url=http://127\.0\.0\.1:(\d+)")
EVERY_FAULT = ["delayed", "repeated", "reordered", "lost", "forged", "underpaid", "wrong_currency",
               "captured_after_void", "unreachable"]


def free_port() -> int:
    """For a server whose address somebody else must know before it starts, and after its restart.

    Below the range from which the system gives ports to those who ask for any.
    """
    while True:
        port = 10_000 + secrets.randbelow(20_000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue


def webhook_secret() -> str:
    return "whsec_" + base64.b64encode(secrets.token_bytes(32)).decode()


def sign(secret: str, body: bytes, event: str = None, at: int = None) -> dict:
    """The headers of Standard Webhooks for this body."""
    event, at = event or f"evt_{secrets.token_hex(8)}", str(int(time.time()) if at is None else at)
    key = base64.b64decode(secret.removeprefix("whsec_"))
    digest = hmac.new(key, f"{event}.{at}.".encode() + body, hashlib.sha256).digest()
    return {"webhook-id": event, "webhook-timestamp": at, "webhook-signature": "v1," + base64.b64encode(digest).decode()}


class Sandbox:
    def __init__(self, folder, webhook_url: str, faults=(), seed: int = 1):
        self.folder, self.webhook_url, self.faults, self.seed = folder, webhook_url, list(faults), seed
        self.key, self.secret = secrets.token_hex(16), webhook_secret()
        self.process = self.port = None
        self.said = []

    def start(self) -> "Sandbox":
        environment = clean_environment(SANDBOX_PAY_KEY=self.key, SANDBOX_PAY_WEBHOOK_SECRET=self.secret)
        self.process = subprocess.Popen(
            [BINARY, "sandbox-pay", "--listen", f"127.0.0.1:{self.port or 0}", "--webhook-url", self.webhook_url,
             "--faults", ",".join(self.faults) or "none", "--seed", str(self.seed), "--data", "payments.log"],
            cwd=self.folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace")
        heard = threading.Event()

        def read():
            for line in self.process.stdout:
                self.said.append(line)
                if found := READY.search(line):
                    self.port = int(found[1])
                    heard.set()
            heard.set()
        threading.Thread(target=read, daemon=True).start()
        assert heard.wait(START_S_MAX) and self.process.poll() is None, "".join(self.said)
        return self

    def settings(self) -> dict:
        """What a server needs to be paid through it."""
        return {"DOORBUSTER_PAYMENTS__PROVIDER_URL": f"http://127.0.0.1:{self.port}",
                "DOORBUSTER_PAYMENTS__PROVIDER_KEY": self.key,
                "DOORBUSTER_PAYMENTS__WEBHOOK_SECRET": self.secret}

    def client(self) -> Client:
        return Client(self.port, "provider", self.key)

    def act(self, payment: str, verb: str) -> int:
        """What the buyer does on the pay page: capture or decline."""
        client = self.client()
        try:
            return client.post(f"/v1/payments/{payment}/{verb}").status
        finally:
            client.close()

    def set_faults(self, faults) -> None:
        client = self.client()
        answer = client.put("/v1/faults", {"faults": list(faults)})
        assert answer.status == 200, answer.body
        client.close()

    def payments(self) -> list:
        """Every payment that it knows, as it is now."""
        client, found, after = self.client(), [], 0
        while after is not None:
            page = client.get(f"/v1/payments?after={after}&limit=500").json
            found += page["payments"]
            after = page["next"]
        client.close()
        return found

    def stop(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            assert self.process.wait(STOP_S_MAX) == 0, "".join(self.said)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

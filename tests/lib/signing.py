"""Standard Webhooks: secrets, the headers that sign a body, and whether headers do."""
import base64
import hashlib
import hmac
import secrets
import time


def webhook_secret() -> str:
    return "whsec_" + base64.b64encode(secrets.token_bytes(32)).decode()


def sign(secret: str, body: bytes, event: str = None, at: int = None) -> dict:
    """The headers for this body."""
    event, at = event or f"evt_{secrets.token_hex(8)}", str(int(time.time()) if at is None else at)
    key = base64.b64decode(secret.removeprefix("whsec_"))
    digest = hmac.new(key, f"{event}.{at}.".encode() + body, hashlib.sha256).digest()
    return {"webhook-id": event, "webhook-timestamp": at, "webhook-signature": "v1," + base64.b64encode(digest).decode()}


def is_signed(secret: str, headers: dict, body: bytes) -> bool:
    """By the letter of the standard; the time is not looked at."""
    wanted = sign(secret, body, headers["webhook-id"], headers["webhook-timestamp"])["webhook-signature"]
    return wanted in headers["webhook-signature"].split(" ")

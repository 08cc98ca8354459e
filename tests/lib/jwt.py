"""Signs buyer tokens as a shop would: JWT, HS256, `sub` is the buyer."""
import base64
import hashlib
import hmac
import json
import time


def encode(part: bytes) -> str:
    return base64.urlsafe_b64encode(part).rstrip(b"=").decode()


def mint(secret: str, buyer: str, lifetime_s: int = 3600, header: dict = None, **claims) -> str:
    """`header` and `claims` override what an honest token says; None removes a claim."""
    said = {"sub": buyer, "iat": int(time.time()), "exp": int(time.time()) + lifetime_s, **claims}
    said = {name: value for name, value in said.items() if value is not None}
    head = header or {"alg": "HS256", "typ": "JWT"}
    signed = f"{encode(json.dumps(head).encode())}.{encode(json.dumps(said).encode())}"
    signature = hmac.new(secret.encode(), signed.encode(), hashlib.sha256).digest()
    return f"{signed}.{encode(signature)}"

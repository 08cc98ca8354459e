"""Tokens and checks made by somebody who knows the secret: dated as no server would, or with a known answer."""
import hashlib
import hmac
import secrets
import struct

from lib.jwt import encode

VERSION, MAC_BYTES = 1, 16


class Forge:
    """Signs as the server does: each purpose has a key of its own, and every part its length before it."""

    def __init__(self, secret: str, purpose: str):
        self._key = hmac.new(secret.encode(), f"doorbuster {purpose} v1".encode(), hashlib.sha256).digest()
        self.key_id = hashlib.sha256(self._key).digest()[:2]

    def sign(self, *parts: bytes) -> bytes:
        message = b"".join(bytes([len(part)]) + part for part in parts)
        return hmac.new(self._key, message, hashlib.sha256).digest()[:MAC_BYTES]


class TokenForge(Forge):
    def __init__(self, secret: str):
        super().__init__(secret, "purchase token")

    def mint(self, sale: str, item: str, buyer: str, issued_at_ms: int, expires_at_ms: int) -> str:
        fields = struct.pack(">B2sQQ16s", VERSION, self.key_id, issued_at_ms, expires_at_ms, secrets.token_bytes(16))
        return encode(fields + self.sign(fields, sale.encode(), item.encode(), buyer.encode()))


class ImageForge(Forge):
    """Checks without a picture, whose answer is known: what a person who reads well has in hand."""

    def __init__(self, secret: str):
        super().__init__(secret, "image check")

    def make(self, sale: str, buyer: str, answer: str, expires_at_ms: int) -> str:
        head = struct.pack(">B2s16sQ", VERSION, self.key_id, secrets.token_bytes(16), expires_at_ms)
        fields = head + self.sign(b"answer", head, answer.encode())
        return encode(fields + self.sign(b"id", fields, sale.encode(), buyer.encode()))

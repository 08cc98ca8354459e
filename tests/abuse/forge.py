"""Tokens and checks made by somebody who knows the secret: dated as no server would, or with a known answer."""
import hashlib
import hmac
import secrets
import struct

from lib.jwt import encode

MAC_BYTES = 16


def digest(key: bytes, *parts: bytes) -> bytes:
    return hmac.new(key, b"".join(bytes([len(part)]) + part for part in parts), hashlib.sha256).digest()


class Forge:
    """Signs as the server does: each purpose has a key of its own, and every part its length before it."""

    def __init__(self, secret: str, purpose: str):
        self._key = hmac.new(secret.encode(), f"doorbuster {purpose} v1".encode(), hashlib.sha256).digest()
        self.key_id = hashlib.sha256(self._key).digest()[:2]

    def sign(self, *parts: bytes) -> bytes:
        return digest(self._key, *parts)[:MAC_BYTES]


class TokenForge(Forge):
    """An item's tokens have a key of their own."""

    VERSION = 2

    def __init__(self, secret: str):
        super().__init__(secret, "purchase token")

    def mint(self, sale: str, item: str, buyer: str, issued_at_ms: int, expires_at_ms: int) -> str:
        fields = struct.pack(">QQ16s", issued_at_ms, expires_at_ms, secrets.token_bytes(16))
        mac = digest(digest(self._key, sale.encode(), item.encode()), fields, buyer.encode())[:MAC_BYTES]
        return encode(struct.pack(">B2s", self.VERSION, self.key_id) + fields + mac)


class ImageForge(Forge):
    """Checks without a picture, whose answer is known: what a person who reads well has in hand."""

    VERSION = 1

    def __init__(self, secret: str):
        super().__init__(secret, "image check")

    def make(self, sale: str, buyer: str, answer: str, expires_at_ms: int) -> str:
        head = struct.pack(">B2s16sQ", self.VERSION, self.key_id, secrets.token_bytes(16), expires_at_ms)
        fields = head + self.sign(b"answer", head, answer.encode())
        return encode(fields + self.sign(b"id", fields, sale.encode(), buyer.encode()))

"""Requests as bytes, for clients that keep to no rule, and a connection that reads many answers fast."""
import socket

from lib import jwt
from lib.client import ANSWER_S_MAX, Answer, RawConnection
from lib.shop import Shop


def purchase_head(shop: Shop, sale: str, buyer: str, *fields: str) -> str:
    """The head of a purchase up to, not including, the fields that say how long its body is."""
    lines = [f"POST /v1/sales/{sale}/purchases HTTP/1.1", "Host: localhost",
             f"Authorization: Bearer {jwt.mint(shop.server.hmac_secret, buyer)}", "Content-Type: application/json",
             *fields]
    return "".join(f"{line}\r\n" for line in lines)


def purchase(shop: Shop, sale: str, buyer: str) -> bytes:
    """A whole, honest purchase."""
    body = '{"item":"phone","quantity":1}'
    return (purchase_head(shop, sale, buyer, f"Content-Length: {len(body)}") + "\r\n" + body).encode()


def get(path: str, *fields: str) -> bytes:
    return "".join(f"{line}\r\n" for line in (f"GET {path} HTTP/1.1", "Host: localhost", *fields, "")).encode()


def rejected(shop: Shop, data: bytes, status: int) -> Answer:
    """Sends it on a connection of its own: one answer with this status, then the end."""
    with RawConnection(shop.server.public_port) as connection:
        connection.send(data)
        answer = connection.receive()
        assert answer.status == status, (data[:300], answer.status, answer.body)
        assert answer.headers["connection"].lower() == "close", data[:300]
        assert connection.at_end(), data[:300]
        return answer


class Pipe:
    """Many requests on one connection, written ahead of their answers."""

    def __init__(self, port: int, source: str = "127.0.0.1"):
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=ANSWER_S_MAX, source_address=(source, 0))
        self._bytes = bytearray()

    def send(self, data: bytes) -> None:
        self._socket.sendall(data)

    def receive(self, count: int) -> list:
        """The next `count` answers as (status, body)."""
        answers = []
        while len(answers) < count:
            at, done = 0, False
            while len(answers) < count and not done:
                end = self._bytes.find(b"\r\n\r\n", at)
                length_at = self._bytes.find(b"Content-Length: ", at, end) if end >= 0 else -1
                if length_at < 0:
                    assert end < 0, bytes(self._bytes[at:end])
                    done = True
                    continue
                body_at = end + 4
                body_end = body_at + int(self._bytes[length_at + 16:self._bytes.index(b"\r\n", length_at)])
                if body_end > len(self._bytes):
                    done = True
                    continue
                answers.append((int(self._bytes[at + 9:at + 12]), bytes(self._bytes[body_at:body_end])))
                at = body_end
            del self._bytes[:at]
            if len(answers) < count:
                received = self._socket.recv(1 << 18)
                assert received, f"the connection ended after {len(answers)} of {count} answers"
                self._bytes += received
        return answers

    def close(self) -> None:
        self._socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

"""Server-sent events of one purchase, read one by one. Every answer is held against the OpenAPI document."""
import json
import socket
from dataclasses import dataclass

from lib.client import ANSWER_S_MAX, Answer, Client


@dataclass
class Event:
    name: str
    id: int
    data: dict


class EventStream:
    """`status` and `headers` are those of the answer; what is no stream has its `answer` at once."""

    def __init__(self, buyer: Client, purchase: str, last_event_id=None, method: str = "GET"):
        path = f"/v1/purchases/{purchase}/events"
        fields = [f"{method} {path} HTTP/1.1", "Host: localhost", f"Authorization: Bearer {buyer.bearer}"]
        if last_event_id is not None:
            fields.append(f"Last-Event-ID: {last_event_id}")
        self.retry_ms, self.heartbeats = None, 0
        self._socket = socket.create_connection(("127.0.0.1", buyer.port), timeout=ANSWER_S_MAX)
        self._socket.sendall("\r\n".join([*fields, "", ""]).encode())
        self._bytes = b""
        head = self._take(b"\r\n\r\n").decode()
        lines = head.split("\r\n")
        headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines[1:] if line)}
        self.answer = Answer(int(lines[0].split()[1]), headers)
        if method != "HEAD" and "content-length" in headers:
            while len(self._bytes) < int(headers["content-length"]):
                assert self._receive()
            self.answer.body = self._bytes
        if buyer.contract is not None:
            buyer.contract.check(buyer.listener, method, path, self.answer)

    @property
    def status(self) -> int:
        return self.answer.status

    @property
    def headers(self) -> dict:
        return self.answer.headers

    def next(self) -> Event:
        """The next event; None when the stream has ended. What is no event is noted on the way."""
        while True:
            block = self._take(b"\n\n")
            if block is None:
                return None
            lines = block.decode().split("\n")[:-2]
            if lines == [": still here"]:
                self.heartbeats += 1
                continue
            fields = dict(line.split(": ", 1) for line in lines)
            if "retry" in fields:
                assert set(fields) == {"retry"} and self.retry_ms is None
                self.retry_ms = int(fields["retry"])
                continue
            assert list(fields) == ["event", "id", "data"], block
            return Event(fields["event"], int(fields["id"]), json.loads(fields["data"]))

    def until(self, name: str) -> Event:
        """The next event of this name; versions only grow on the way there."""
        last = -1
        while True:
            event = self.next()
            assert event is not None, f"the stream ended before it said {name}"
            assert event.id > last
            last = event.id
            if event.name == name:
                return event

    def wait_for_heartbeat(self) -> None:
        before = self.heartbeats
        while self.heartbeats == before:
            block = self._take(b"\n\n")
            assert block is not None and not block.startswith(b"event"), block
            self.heartbeats += block == b": still here\n\n"

    def close(self) -> None:
        self._socket.close()

    def _receive(self) -> bool:
        try:
            received = self._socket.recv(1 << 16)
        except ConnectionResetError:
            return False
        self._bytes += received
        return bool(received)

    def _take(self, end: bytes) -> bytes:
        """Bytes up to and including `end`; None if the connection ended before."""
        while end not in self._bytes:
            if not self._receive():
                return None
        at = self._bytes.index(end) + len(end)
        taken, self._bytes = self._bytes[:at], self._bytes[at:]
        return taken

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

"""A small keep-alive HTTP client. Every answer is held against the OpenAPI document."""
import http.client
import json
import socket
import time
from dataclasses import dataclass, field

ANSWER_S_MAX = 90  # a bound on a hang
IDLE_S_MAX = 10


@dataclass
class Answer:
    status: int
    headers: dict = field(default_factory=dict)  # names in lower case
    body: bytes = b""

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def code(self):
        """The stable code of a problem; None for any other answer."""
        if self.headers.get("content-type", "").startswith("application/problem+json"):
            return self.json["code"]
        return None

    @property
    def pointers(self) -> set:
        return {fault["pointer"] for fault in self.json.get("errors", [])}


class Client:
    """Speaks to one listener over one connection. `contract` may be None: nothing is held against it.

    `source` is the loopback address that it comes from: to a server, another address is another client.
    """

    def __init__(self, port: int, listener: str, bearer: str = None, contract=None, source: str = "127.0.0.1"):
        self.port, self.listener, self.bearer, self.contract = port, listener, bearer, contract
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=ANSWER_S_MAX,
                                                      source_address=(source, 0))
        self._asked_at = time.monotonic()

    def request(self, method: str, path: str, body=None, headers: dict = None) -> Answer:
        """`body` is sent as JSON; bytes are sent as they are. A header of None is left out."""
        sent = {"Accept": "application/json"}
        if self.bearer is not None:
            sent["Authorization"] = f"Bearer {self.bearer}"
        if body is not None:
            sent["Content-Type"] = "application/json"
            body = body if isinstance(body, bytes) else json.dumps(body).encode()
        sent.update(headers or {})
        sent = {name: value for name, value in sent.items() if value is not None}
        # A server ends a connection on which nobody asks for long.
        if time.monotonic() - self._asked_at > IDLE_S_MAX:
            self._connection.close()
        self._asked_at = time.monotonic()
        try:
            self._connection.request(method, path, body=body, headers=sent)
            received = self._connection.getresponse()
            content = received.read()
        except (OSError, http.client.HTTPException):
            self._connection.close()
            raise
        answer = Answer(received.status, {name.lower(): value for name, value in received.getheaders()}, content)
        if self.contract is not None:
            self.contract.check(self.listener, method, path, answer)
        return answer

    def get(self, path, **more) -> Answer:
        return self.request("GET", path, **more)

    def post(self, path, body=None, **more) -> Answer:
        return self.request("POST", path, body=body, **more)

    def patch(self, path, body=None, **more) -> Answer:
        return self.request("PATCH", path, body=body, **more)

    def put(self, path, body=None, **more) -> Answer:
        return self.request("PUT", path, body=body, **more)

    def delete(self, path, **more) -> Answer:
        return self.request("DELETE", path, **more)

    def close(self) -> None:
        self._connection.close()


class RawConnection:
    """Sends exactly the bytes given: for requests that no honest client would build."""

    def __init__(self, port: int, source: str = "127.0.0.1"):
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=ANSWER_S_MAX,
                                                source_address=(source, 0))

    def send(self, data: bytes) -> None:
        self._socket.sendall(data)

    def receive(self) -> Answer:
        received = http.client.HTTPResponse(self._socket)
        received.begin()
        return Answer(received.status, {name.lower(): value for name, value in received.getheaders()},
                      received.read())

    def at_end(self) -> bool:
        """True when the peer has closed; waits for that or for the next byte."""
        try:
            return self._socket.recv(1) == b""
        except ConnectionResetError:
            return True

    def close(self) -> None:
        self._socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

"""The shop's end of webhooks: a real HTTP server that remembers what it got and answers as told."""
import json
import threading
import time
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from lib import signing


@dataclass
class Received:
    headers: dict  # names in lower case
    body: bytes
    at: float

    @property
    def id(self) -> str:
        return self.headers["webhook-id"]

    @property
    def json(self):
        return json.loads(self.body)


def is_signed(received: Received, secret: str) -> bool:
    """Signed with this secret, and sent within the last minute."""
    assert abs(time.time() - int(received.headers["webhook-timestamp"])) < 60
    return signing.is_signed(secret, received.headers, received.body)


class Receiver:
    """`answer(received)` tells the status of each answer; None: there is none until the receiver closes."""

    def __init__(self, answer=lambda received: 204, headers: dict = None, host: str = "127.0.0.1"):
        self.answer, self.headers = answer, headers or {}
        self.received, self._lock, self._closing = [], threading.Lock(), threading.Event()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                received = Received({name.lower(): value for name, value in self.headers.items()}, body, time.time())
                with receiver._lock:
                    receiver.received.append(received)
                status = receiver.answer(received)
                if status is None:
                    receiver._closing.wait()
                    self.close_connection = True
                    return
                self.send_response(status)
                for name, value in receiver.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer((host, 0), Handler)
        self._server.daemon_threads = True
        self._server.handle_error = lambda *_: None  # a server that was killed hangs up
        self.port = self._server.server_address[1]
        self.url = f"http://{host}:{self.port}/hooks"
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def of_type(self, kind: str) -> list:
        with self._lock:
            return [one for one in self.received if one.json["type"] == kind]

    def with_id(self, event: str) -> list:
        with self._lock:
            return [one for one in self.received if one.id == event]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()

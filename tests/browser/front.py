"""A small front as a shop has one: some files of its own, and /v1/ handed on to Doorbuster."""
import http.client
import http.server
import threading
from pathlib import Path

TYPES = {".html": "text/html; charset=utf-8", ".js": "text/javascript"}
PER_HOP = {"connection", "content-length", "transfer-encoding"}


class Front:
    """`files` by path. Everything under /v1/ goes to `port` on loopback, with the Host that the browser sent.

    `answered` is what was handed on, as (method, path), once its answer was begun.
    """

    def __init__(self, files: dict, port: int):
        self.answered = answered = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                path = self.path.split("?")[0]
                if path.startswith("/v1/"):
                    return self.hand_on()
                if path not in files:
                    return self.begin(404, {"Content-Length": "0"})
                file = Path(files[path])
                self.begin(200, {"Content-Type": TYPES[file.suffix]})
                self.wfile.write(file.read_bytes())

            def hand_on(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
                sent = {name: value for name, value in self.headers.items() if name.lower() != "connection"}
                connection.request(self.command, self.path, body or None, sent)
                received = connection.getresponse()
                answered.append((self.command, self.path))
                try:
                    self.begin(received.status, {name: value for name, value in received.getheaders()
                                                 if name.lower() not in PER_HOP})
                    while part := received.read1():  # a stream comes as it comes, and ends with the connection
                        self.wfile.write(part)
                except ConnectionError:
                    pass  # the page has gone
                connection.close()

            do_POST = do_OPTIONS = do_HEAD = hand_on

            def begin(self, status, headers):
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()

            def log_message(self, *_):
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.origin = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self):
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()

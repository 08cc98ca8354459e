"""A small front as a shop has one: some files of its own, and /v1/ handed on to Doorbuster."""
import http.client
import http.server
import threading
from pathlib import Path

TYPES = {".html": "text/html; charset=utf-8", ".js": "text/javascript"}


class Front:
    """`files` by path. Everything under /v1/ goes to `port` on loopback, with the Host that the browser sent."""

    def __init__(self, files: dict, port: int):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                path = self.path.split("?")[0]
                if path.startswith("/v1/"):
                    return self.hand_on()
                if path not in files:
                    return self.answer(404, {}, b"")
                file = Path(files[path])
                self.answer(200, {"Content-Type": TYPES[file.suffix]}, file.read_bytes())

            def do_POST(self):
                self.hand_on()

            def hand_on(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
                sent = {name: value for name, value in self.headers.items() if name.lower() != "connection"}
                connection.request(self.command, self.path, body or None, sent)
                received = connection.getresponse()
                self.answer(received.status, {"Content-Type": received.getheader("Content-Type", "")}, received.read())
                connection.close()

            def answer(self, status, headers, body):
                self.send_response(status)
                for name, value in {**headers, "Content-Length": str(len(body))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

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

"""nginx on a loopback port, with all that it writes in a folder of its own."""
import os
import socket
from pathlib import Path

from engines.engine import Engine, EngineError, find_program, until
from lib.ports import free_port

DEPLOYED = Path(__file__).resolve().parents[2] / "deploy" / "nginx" / "doorbuster.conf"
CONFIGURATION = """
daemon off;
master_process on;
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/error.log error;
events {{ worker_connections 4096; }}
http {{
    access_log off;
    tcp_nodelay on;
    keepalive_timeout 600s;
    keepalive_requests 1000000000;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
{http}
}}
"""


def deployed(gates: list, site: Path = None) -> str:
    """deploy/nginx/doorbuster.conf with these ports for its gates, and PORT for its own: each is there once.

    `site` is a folder of published pages; the file has the line for it, as a remark.
    """
    text = DEPLOYED.read_text()
    if site is not None:
        remark = "    #   root /var/www/sale;  include /var/www/sale/nginx.conf;\n"
        if text.count(remark) != 1:
            raise EngineError(f"{DEPLOYED} does not say how published pages are served")
        text = text.replace(remark, f"    root {site};  include {site}/nginx.conf;\n")
    servers = "\n    ".join(f"server 127.0.0.1:{port};" for port in gates)
    for right, here in (("server 127.0.0.1:8080;", servers),
                        ("listen 80 backlog=4096;", "listen 127.0.0.1:PORT backlog=4096;")):
        if text.count(right) != 1:
            raise EngineError(f"{DEPLOYED} does not say '{right}' once")
        text = text.replace(right, here)
    return text


class Nginx(Engine):
    """`http` is what stands in the http block; PORT in it becomes its port."""

    name = "nginx"

    def __init__(self, folder: Path, http: str, port: int = None):
        super().__init__(folder)
        self.http, self.port = http, port or free_port()

    def prepare(self) -> None:
        http = self.http.replace("PORT", str(self.port))
        (self.folder / "nginx.conf").write_text(CONFIGURATION.format(folder=self.folder, http=http))

    def words(self) -> list:
        # Started as root it would hand its worker to another user, who may not enter the folder.
        user = ["-g", "user root;"] if os.geteuid() == 0 else []
        return [find_program("nginx"), "-p", self.folder, "-c", self.folder / "nginx.conf",
                "-e", self.folder / "error.log", *user]

    def said(self) -> str:
        return super().said() + (self.folder / "error.log").read_text()

    @property
    def worker(self) -> int:
        """The process that serves."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return int(until("nginx has a worker", lambda: children.read_text().split())[0])

    def answers(self) -> bool:
        try:
            socket.create_connection(("127.0.0.1", self.port), 5).close()
            return True
        except OSError:
            return False

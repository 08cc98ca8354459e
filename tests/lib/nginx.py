"""nginx on a loopback port, with all that it writes in a folder of its own."""
import os
import shutil
import socket
import subprocess
from pathlib import Path

from lib.ports import free_port
from lib.shop import eventually

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


class Nginx:
    """`http` is what stands in the http block; PORT in it becomes a free port."""

    def __init__(self, folder: Path, http: str):
        program = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
        assert program is not None, "nginx is missing: scripts/setup test"
        folder.mkdir(parents=True)
        self.folder, self.port = folder, free_port()
        configuration = folder / "nginx.conf"
        configuration.write_text(CONFIGURATION.format(folder=folder, http=http.replace("PORT", str(self.port))))
        # Started as root it would hand its worker to another user, who may not enter the folder.
        user = ["-g", "user root;"] if os.geteuid() == 0 else []
        self.master = subprocess.Popen([program, "-p", folder, "-c", configuration, "-e", folder / "error.log", *user],
                                       stdin=subprocess.DEVNULL)
        self.worker = eventually("nginx has a worker", self._find_worker)
        eventually("nginx listens", self._listens)

    def __enter__(self) -> "Nginx":
        return self

    def __exit__(self, *_) -> None:
        self.stop()

    def _find_worker(self):
        assert self.master.poll() is None, f"nginx did not start:\n{(self.folder / 'error.log').read_text()}"
        children = Path(f"/proc/{self.master.pid}/task/{self.master.pid}/children").read_text().split()
        return int(children[0]) if children else None

    def _listens(self) -> bool:
        try:
            socket.create_connection(("127.0.0.1", self.port), 5).close()
            return True
        except OSError:
            return False

    def stop(self) -> None:
        self.master.terminate()
        self.master.wait(30)

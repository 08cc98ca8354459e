"""One `doorbuster serve` of a cluster."""
import re
from pathlib import Path

from engines.engine import Engine
from lib.server import BINARY, clean_environment

READY = re.compile(r"doorbuster is ready\s+public=(\S*)\s+admin=\S+?:(\d+)")


class Node(Engine):
    """`listen` is the port for buyers; none: it is no gate."""

    def __init__(self, folder: Path, roles: str, settings: dict, listen: int = None, admin: int = 0):
        super().__init__(folder)
        self.name, self.roles, self.settings, self.listen, self.admin = self.folder.name, roles, settings, listen, admin
        self.admin_port = None
        self._log_from = 0

    def words(self) -> list:
        return [BINARY, "serve", "--backend", "cluster", "--roles", self.roles]

    def environment(self) -> dict:
        listens = {"DOORBUSTER_ADMIN__LISTEN": f"127.0.0.1:{self.admin}", "DOORBUSTER_STORE__PATH": str(self.folder)}
        if self.listen is not None:
            listens["DOORBUSTER_SERVER__LISTEN"] = f"127.0.0.1:{self.listen}"
        return clean_environment(**listens, **self.settings)

    def prepare(self) -> None:
        self.admin_port = None
        self._log_from = self.log.stat().st_size if self.log.exists() else 0

    def said(self) -> str:
        """Since its last start."""
        with self.log.open(errors="replace") as log:
            log.seek(self._log_from)
            return log.read()

    def answers(self) -> bool:
        found = READY.search(self.said())
        if found:
            self.admin_port = int(found[2])
        return found is not None

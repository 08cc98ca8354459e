"""A real `doorbuster serve` on free loopback ports, with a data folder of its own."""
import contextlib
import os
import re
import secrets
import signal
import sqlite3
import subprocess
import threading
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
BINARY = Path(os.environ.get("DOORBUSTER_BINARY", ROOT / "build" / "release" / "doorbuster"))

READY = re.compile(r"doorbuster is ready\s+public=\S+?:(\d+)\s+admin=\S+?:(\d+)")
START_S_MAX = 180  # bounds on a hang
STOP_S_MAX = 180
SANITIZER_REPORTS = ("ThreadSanitizer", "AddressSanitizer", "LeakSanitizer", "runtime error:")


def clean_environment(**settings: str) -> dict:
    """The caller's environment without any setting of ours, plus `settings`; one of None is left out."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("DOORBUSTER_")}
    return {**kept, **{name: value for name, value in settings.items() if value is not None}}


class NotReady(Exception):
    """The server ended, or said nothing for too long, before it was ready."""


class Server:
    """One server at a time; start again after it ended to get the next one on the same folder."""

    gates = 1

    def __init__(self, folder: Path, **settings: str):
        self.folder = Path(folder)
        self.data = self.folder / "data"
        self.admin_key = secrets.token_hex(24)
        self.hmac_secret = secrets.token_hex(24)
        self.settings = settings
        self.preexec = None  # called in the new process, for limits on it
        self.process = None
        self.public_port = self.admin_port = None
        self.stdout, self.stderr = [], []

    def environment(self, **more: str) -> dict:
        return clean_environment(**{
            "DOORBUSTER_SERVER__LISTEN": "127.0.0.1:0",
            "DOORBUSTER_ADMIN__LISTEN": "127.0.0.1:0",
            "DOORBUSTER_ADMIN__KEY": self.admin_key,
            "DOORBUSTER_IDENTITY__HMAC_SECRET": self.hmac_secret,
            "DOORBUSTER_STORE__PATH": str(self.data),
            # A busy machine may take seconds for a sync; only the tests of overload mean overload.
            "DOORBUSTER_SHARD__WAIT_MS_MAX": "60000",
            # All clients of a test come from one address, and in a hurry; only the tests of limits mean limits.
            "DOORBUSTER_LIMITS__ADDRESS_PER_SECOND": "0",
            "DOORBUSTER_LIMITS__BUYER_PER_MINUTE": "0",
            "DOORBUSTER_LIMITS__CHECKS_PER_MINUTE": "0",
            "DOORBUSTER_LIMITS__GLOBAL_PER_SECOND": "0",
            "DOORBUSTER_LIMITS__BUYERS_PER_ADDRESS_MAX": "0",
            "DOORBUSTER_OVERLOAD__DETECT": "false",
            **self.settings,
            **more,
        })

    def spawn(self) -> None:
        """Starts the process and does not wait for it."""
        assert self.process is None or self.process.poll() is not None, "one is still running"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.stdout, self.stderr = [], []
        self.public_port = self.admin_port = None
        self._heard = threading.Event()
        self.process = subprocess.Popen(
            [BINARY, "serve"], cwd=self.folder, env=self.environment(), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace", preexec_fn=self.preexec)
        self._readers = [threading.Thread(target=self._read, args=pair, daemon=True)
                         for pair in ((self.process.stdout, self.stdout), (self.process.stderr, self.stderr))]
        for reader in self._readers:
            reader.start()

    def _read(self, stream, lines) -> None:
        for line in stream:
            lines.append(line)
            found = READY.search(line)
            if found:
                self.public_port, self.admin_port = int(found[1]), int(found[2])
                self._heard.set()
        stream.close()
        if lines is self.stdout:
            self._heard.set()  # the end, too, is something to hear

    def wait_ready(self) -> "Server":
        self._heard.wait(START_S_MAX)
        if self.public_port is None:
            status = self.kill()
            raise NotReady(f"exit status {status}; it said:\n{self.said()}")
        return self

    def start(self) -> "Server":
        self.spawn()
        return self.wait_ready()

    def signal(self, number: int) -> None:
        os.kill(self.process.pid, number)

    def wait(self, seconds_max: float = STOP_S_MAX) -> int:
        """Its exit status, when all that it said has been read."""
        try:
            status = self.process.wait(seconds_max)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError(f"the server did not end in {seconds_max} s; it said:\n{self.said()}") from None
        for reader in self._readers:
            reader.join()
        # Of a server that was killed no exit status would tell.
        reports = [line for line in self.stderr if any(name in line for name in SANITIZER_REPORTS)]
        assert not reports, f"a sanitizer found something; the server said:\n{self.said()}"
        return status

    def stop(self) -> int:
        """Asks it to finish (SIGTERM) and returns its exit status."""
        if self.process.poll() is None:
            self.signal(signal.SIGTERM)
        return self.wait()

    def kill(self) -> int:
        if self.process.poll() is None:
            self.process.kill()
        return self.wait()

    def running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def rows(self, query: str) -> list:
        """What orders.db has."""
        with contextlib.closing(sqlite3.connect(f"file:{self.data}/orders.db?mode=ro", uri=True)) as database:
            database.row_factory = sqlite3.Row
            return [dict(row) for row in database.execute(query)]

    def recount(self) -> None:
        """The records, once it has stopped, by a judge that shares no logic with the book."""
        result = subprocess.run([BINARY.parent / "doorbuster-recount", self.data], capture_output=True, text=True)
        assert result.returncode == 0, result.stdout + result.stderr

    def said(self) -> str:
        return "".join(self.stdout) + "".join(self.stderr)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.running():
            self.kill()

"""PostgreSQL 15 on a loopback port, and what is asked of it, by psql."""
import json
import os
import secrets
import signal
import subprocess
from pathlib import Path

from engines.engine import END_S_MAX, Engine, EngineError, find_program, until

PROGRAMS = "/usr/lib/postgresql/15/bin"
CONNECTIONS_MAX = 200
ANSWER_S_MAX = 60


class Postgres(Engine):
    name = "PostgreSQL"
    user = "postgres"  # it does not run as root
    ends_by = signal.SIGINT  # without waiting for those who are connected

    def __init__(self, folder: Path, port: int, settings: dict = None):
        super().__init__(folder)
        self.port, self.settings = port, settings or {}
        self.data, self.password_file = self.folder / "data", self.folder / "password"

    def prepare(self) -> None:
        other = self.other_user()
        if other is not None:
            self._check_reachable(other)
            os.chown(self.folder, other.pw_uid, other.pw_gid)
        if (self.data / "PG_VERSION").exists():
            return
        self.password_file.touch(mode=0o600)
        self.password_file.write_text(secrets.token_hex(16))
        if other is not None:
            os.chown(self.password_file, other.pw_uid, other.pw_gid)
        # Under another name first: one that was interrupted is begun anew.
        draft = self.folder / "data.new"
        subprocess.run(["rm", "-rf", draft], check=True)
        self.run_once([find_program("initdb", PROGRAMS), "--pgdata", draft, "--username", "doorbuster", "--auth",
                       "scram-sha-256", "--pwfile", self.password_file, "--encoding", "UTF8", "--locale", "C",
                       "--no-sync"])
        draft.rename(self.data)

    def _check_reachable(self, user) -> None:
        for folder in [self.folder.resolve(), *self.folder.resolve().parents][1:]:
            found = folder.stat()
            allowed = 0o001 if found.st_uid != user.pw_uid else 0o100
            if not found.st_mode & allowed:
                raise EngineError(f"{self.name} does not run as root, and {user.pw_name} may not enter {folder}: "
                                  f"give it another folder, or chmod o+x {folder}")

    def words(self) -> list:
        settings = {"listen_addresses": "127.0.0.1", "unix_socket_directories": "", "port": self.port,
                    "max_connections": CONNECTIONS_MAX, "shared_buffers": "64MB", **self.settings}
        return [find_program("postgres", PROGRAMS), "-D", self.data,
                *(f"-c{name}={value}" for name, value in settings.items())]

    def answers(self) -> bool:
        done = subprocess.run([find_program("pg_isready", PROGRAMS), "-q", "-h", "127.0.0.1", "-p", str(self.port)])
        return done.returncode == 0

    @property
    def password(self) -> str:
        return self.password_file.read_text()

    def url(self, database: str = "doorbuster") -> str:
        return f"postgresql://doorbuster:{self.password}@127.0.0.1:{self.port}/{database}"

    def ask(self, query: str, database: str = "doorbuster") -> str:
        done = subprocess.run(
            [find_program("psql"), "-XAtq", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p", str(self.port), "-U", "doorbuster",
             "-d", database, "-c", query], env={**os.environ, "PGPASSWORD": self.password, "PGCONNECT_TIMEOUT": str(ANSWER_S_MAX),
                                      "PGOPTIONS": "-csearch_path=doorbuster,public"},
            capture_output=True, text=True, timeout=ANSWER_S_MAX)
        if done.returncode != 0:
            raise EngineError(f"psql: {done.stderr.strip()}")
        return done.stdout.rstrip("\n")

    def rows(self, query: str, database: str = "doorbuster") -> list:
        return json.loads(self.ask(f"SELECT coalesce(json_agg(found), '[]') FROM ({query}) AS found", database))

    def ensure_database(self, database: str = "doorbuster") -> None:
        if not self.rows(f"SELECT 1 FROM pg_database WHERE datname = '{database}'", "postgres"):
            self.ask(f"CREATE DATABASE {database}", "postgres")

    def kill(self) -> None:
        """All of its processes, as when the machine goes: none may finish what it was about."""
        if not self.running():
            return
        pid = self.process.pid
        self.process.send_signal(signal.SIGSTOP)  # it starts no more of them
        children = [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
        for process in [pid, *children]:
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.process.wait(END_S_MAX)
        # One that is left would keep the next from starting.
        until("its processes are gone", lambda: not any(_is_alive(child) for child in children), END_S_MAX)


def _is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False

"""redis-server with the users of deploy/redis/users.acl, on a loopback port."""
import secrets
import shutil
import subprocess
from pathlib import Path

from engines.engine import Engine, EngineError, find_program, until

USERS = Path(__file__).resolve().parents[2] / "deploy" / "redis" / "users.acl"
ANSWER_S_MAX = 60


class Redis(Engine):
    """One that was killed and is started again finds what it had, as far as it had written it.

    `operator` is a user that this file adds: whoever runs the server may look into it, and stop it.
    """

    name = "redis-server"

    def __init__(self, folder: Path, port: int):
        super().__init__(folder)
        self.port = port
        self.passwords = {}
        self.master = None

    def words(self) -> list:
        words = [find_program("redis-server"), "--bind", "127.0.0.1", "--port", self.port, "--dir", self.folder,
                 "--aclfile", self.acl, "--appendonly", "yes", "--appendfsync", "everysec", "--save", "",
                 "--maxmemory-policy", "noeviction", "--repl-diskless-sync-delay", "0", "--daemonize", "no"]
        if self.master is not None:
            words += ["--replicaof", f"127.0.0.1 {self.master.port}", "--masteruser", "operator",
                      "--masterauth", self.passwords["operator"]]
        return words

    @property
    def acl(self) -> Path:
        return self.folder / "users.acl"

    def prepare(self) -> None:
        """The users of the deployed file, with passwords that are kept with the data."""
        if self.acl.exists():
            self.passwords = {user: password for user, password in map(_user_and_password, self.acl.read_text().splitlines())
                              if password}
            return
        if not self.passwords:
            self.passwords = {name: secrets.token_hex(16) for name in ("doorbuster", "doorbuster-setup", "operator")}
        text = USERS.read_text()
        for mark, name in (("CHANGE-ME-TOO", "doorbuster-setup"), ("CHANGE-ME", "doorbuster")):
            if text.count(f">{mark} ") != 1:
                raise EngineError(f"{USERS} has no password {mark} to put in")
            text = text.replace(f">{mark} ", f">{self.passwords[name]} ")
        self.acl.touch(mode=0o600)
        self.acl.write_text(text.rstrip("\n") + f"\nuser operator on >{self.passwords['operator']} ~* &* +@all\n")

    def replica(self, folder: Path, port: int) -> "Redis":
        """Another one that follows this one; not started yet."""
        other = Redis(folder, port)
        other.master, other.passwords = self, dict(self.passwords)
        return other

    def url(self, user: str = "doorbuster") -> str:
        return f"redis://{user}:{self.passwords[user]}@127.0.0.1:{self.port}"

    def ask(self, *words) -> str:
        """As the operator; what redis-cli prints."""
        done = subprocess.run(
            [find_program("redis-cli"), "-h", "127.0.0.1", "-p", str(self.port), "--user", "operator", "--no-auth-warning",
             "--raw", *map(str, words)], env={"REDISCLI_AUTH": self.passwords["operator"]}, capture_output=True, text=True,
            timeout=ANSWER_S_MAX)
        if done.returncode != 0:
            raise EngineError(f"redis-cli {' '.join(map(str, words))}: {done.stdout}{done.stderr}")
        return done.stdout.rstrip("\n")

    def answers(self) -> bool:
        try:
            return self.ask("PING") == "PONG"
        except (EngineError, subprocess.TimeoutExpired):
            return False

    def info(self, section: str) -> dict:
        lines = (line.partition(":") for line in self.ask("INFO", section).splitlines() if ":" in line)
        return {name: value.strip() for name, _, value in lines}

    def forget(self) -> None:
        """All that it had written. It must not run; its users stay."""
        if self.running():
            raise EngineError("a running Redis would write it again")
        shutil.rmtree(self.folder / "appendonlydir", ignore_errors=True)

    # Replication, and how it goes wrong.

    def is_in_step_with(self, master: "Redis") -> bool:
        its = master.info("replication")  # first: what it writes meanwhile is not waited for
        mine = self.info("replication")
        return (mine["role"] == "slave" and mine["master_link_status"] == "up" and
                int(mine["slave_repl_offset"]) >= int(its["master_repl_offset"]))

    def cut_off(self) -> None:
        """It keeps what it has, and hears no more of what its master does."""
        self.ask("REPLICAOF", "127.0.0.1", 1)
        until("the replica is cut off", lambda: self.info("replication")["master_link_status"] == "down")

    def promote(self, port: int = None) -> None:
        """It is its own master from now on, and where buyers' gates look for one if a port is named."""
        self.ask("REPLICAOF", "NO", "ONE")
        if port is not None:
            self.ask("CONFIG", "SET", "port", port)
            self.port = port
            until("it answers on the other port", self.answers)

    def follow(self, master: "Redis") -> None:
        """Throws away what it has for what that one has."""
        self.ask("CONFIG", "SET", "masteruser", "operator")
        self.ask("CONFIG", "SET", "masterauth", master.passwords["operator"])
        self.ask("REPLICAOF", "127.0.0.1", master.port)
        until("it has what its master has", lambda: self.is_in_step_with(master))


def _user_and_password(line: str) -> tuple:
    words = line.split()
    return words[1], next((word[1:] for word in words if word.startswith(">")), None)

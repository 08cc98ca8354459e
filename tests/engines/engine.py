"""An engine: one process with a folder of its own, known by its id, that ends with whoever started it."""
import os
import pwd
import shutil
import signal
import subprocess
import time
from pathlib import Path

POLL_S = 0.02
READY_S_MAX = 180  # a few seconds where it has a core to itself
END_S_MAX = 60
LOG_TOLD_BYTES_MAX = 4000


class EngineError(Exception):
    """An engine is missing, or did not do what it was asked to. Says what there is to know."""


def until(what: str, probe, seconds_max: float = READY_S_MAX):
    """Asks until the answer is true, and returns it."""
    deadline = time.monotonic() + seconds_max
    while True:
        result = probe()
        if result:
            return result
        if time.monotonic() > deadline:
            raise EngineError(f"never came true in {seconds_max} s: {what}")
        time.sleep(POLL_S)


def find_program(name: str, *folders: str) -> str:
    path = os.pathsep.join([*folders, os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])
    found = shutil.which(name, path=path)
    if found is None:
        raise EngineError(f"{name} is missing: scripts/setup cluster installs it")
    return found


class Engine:
    """What follows says how it is started (`words`) and how to see that it answers (`answers`)."""

    name = "engine"
    user = None  # whom root starts it as; none: nobody else
    ends_by = signal.SIGTERM  # in peace

    def __init__(self, folder: Path):
        self.folder = Path(folder)
        self.process = None

    def words(self) -> list:
        raise NotImplementedError

    def answers(self) -> bool:
        raise NotImplementedError

    def environment(self):
        """None: the starter's."""
        return None

    def prepare(self) -> None:
        """Before every start."""

    @property
    def log(self) -> Path:
        return self.folder / "log"

    def start(self) -> "Engine":
        self.spawn()
        return self.wait_ready()

    def spawn(self) -> None:
        if self.running():
            raise EngineError(f"{self.name} is running already")
        self.folder.mkdir(parents=True, exist_ok=True)
        self.prepare()
        self.process = self._popen(self.words())

    def wait_ready(self) -> "Engine":
        def ready_or_gone():
            return self.answers() or not self.running()
        until(f"{self.name} answers", ready_or_gone)
        if not self.running():
            raise EngineError(f"{self.name} ended with status {self.process.poll()}; it said:\n{self.said()}")
        return self

    def run_once(self, words: list) -> None:
        """A tool of the engine, as the engine's user."""
        process = self._popen(words)
        if process.wait(READY_S_MAX) != 0:
            raise EngineError(f"{Path(words[0]).name} failed; it said:\n{self.said()}")

    def _popen(self, words: list) -> subprocess.Popen:
        # Whatever becomes of whoever started it, it ends too. A session of its own: Ctrl-C in a terminal is for
        # the starter, who ends all of them in the right order.
        wrapped = ["setpriv", "--pdeathsig", signal.Signals(self.ends_by).name.removeprefix("SIG")]
        other = self.other_user()
        if other is not None:
            wrapped += ["--reuid", str(other.pw_uid), "--regid", str(other.pw_gid), "--clear-groups"]
        with self.log.open("ab") as log:
            return subprocess.Popen([*wrapped, *map(str, words)], cwd=self.folder, env=self.environment(),
                                    stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)

    def other_user(self):
        """Whom root starts it as; none where root may, or where this is not root."""
        if self.user is None or os.geteuid() != 0:
            return None
        try:
            return pwd.getpwnam(self.user)
        except KeyError:
            raise EngineError(f"{self.name} does not run as root, and there is no user {self.user}") from None

    def running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def said(self) -> str:
        try:
            return self.log.read_text(errors="replace")[-LOG_TOLD_BYTES_MAX:]
        except OSError:
            return ""

    def freeze(self) -> None:
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self.process.send_signal(signal.SIGCONT)

    def stop(self) -> None:
        """In peace; one that cannot is killed."""
        if not self.running():
            return
        self.process.send_signal(self.ends_by)
        self.thaw()  # one that stands still does not hear
        try:
            self.process.wait(END_S_MAX)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        if self.running():
            self.process.kill()
        if self.process is not None:
            self.process.wait(END_S_MAX)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

#!/usr/bin/python3
"""Ends a real server at one write boundary of its data folder, restarts it, and judges what is left.

  boundary.py --at N [--mode kill|half|power] [--seed N] [--keep FOLDER]
repeats one crash. Which boundary comes at which number depends a little on how the server's
threads take turns; the operation that it met is printed.
"""
import argparse
import json
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Iterator

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "crash"))

import lib.server
from checker import Histories, check_all
from lib.server import NotReady, Server
from script import Script, Unanswered, Unexpected

CRASHABLE = lib.server.BINARY.with_name("doorbuster-crashable")
RECOUNT = lib.server.BINARY.with_name("doorbuster-recount")
AT_ONCE = 8  # servers; each waits more than it works
CHUNK = 32  # crashes; more than the length of the script differs from run to run, in steps of a commit


@dataclass(frozen=True)
class Crash:
    at: int = 0  # 0: none, only count
    mode: str = "kill"
    seed: int = 0
    ignores_sync: bool = False


@dataclass
class Outcome:
    crash: Crash
    died_at: str = ""  # "sync wal"; empty: the script ended before that boundary came
    count: int = 0  # of boundaries
    kinds: dict = field(default_factory=dict)
    broken: list = field(default_factory=list)

    def describe(self) -> str:
        again = f"--at={self.crash.at} --mode={self.crash.mode} --seed={self.crash.seed}"
        return f"{again} (at a {self.died_at or 'clean end'}): " + "; ".join(self.broken[:5])


def run_until_dead(server: Server, script: Script, outcome: Outcome) -> None:
    """Lets the script run on a server that will crash, and notes where it did."""
    report = server.folder / "boundaries.json"
    crash = outcome.crash
    server.settings.update(CRASH_REPORT=str(report), CRASH_AT=str(crash.at), CRASH_MODE=crash.mode,
                           CRASH_SEED=str(crash.seed), CRASH_IGNORE_SYNC=str(int(crash.ignores_sync)))
    try:
        server.start()
        script.run(meets_checkpoint=True)
        status = server.stop()
    except (NotReady, Unanswered):
        status = server.wait()
    if not report.exists():
        outcome.broken.append(f"exit status {status} without a crash: {server.said()}")
        return
    counted = json.loads(report.read_text())
    outcome.died_at, outcome.count, outcome.kinds = counted["died_at"], counted["count"], counted["kinds"]
    if status != (-signal.SIGKILL if outcome.died_at else 0):
        outcome.broken.append(f"exit status {status}: {server.said()}")


def run_to_the_end(server: Server, script: Script, outcome: Outcome) -> None:
    """Restarts in peace, finishes the script and stops."""
    for name in [name for name in server.settings if name.startswith("CRASH_")]:
        del server.settings[name]
    server.start()
    script.run(meets_checkpoint=False)
    script.sell_the_rest()
    status = server.stop()
    if status != 0:
        outcome.broken.append(f"exit status {status} after SIGTERM: {server.said()}")


def judge(data: Path, script: Script, outcome: Outcome) -> None:
    recounted = subprocess.run([RECOUNT, data], capture_output=True, text=True)
    if recounted.returncode != 0:
        outcome.broken += [f"recount: {line}" for line in (recounted.stdout + recounted.stderr).splitlines()]
    try:
        judged = check_all(data, Histories(script.history), script.restocks)
    except sqlite3.Error as error:
        outcome.broken.append(f"the records cannot be read: {error}")
        return
    outcome.broken += [f"{promise}: {fault}" for promise, faults in sorted(judged.faults.items()) for fault in faults]


def run_once(folder: Path, crash: Crash) -> Outcome:
    """The folder stays only if a promise was broken."""
    outcome = Outcome(crash)
    with Server(folder, DOORBUSTER_LOG__LEVEL="warn") as server:
        script = Script(server)
        try:
            run_until_dead(server, script, outcome)
            run_to_the_end(server, script, outcome)
        except (NotReady, Unanswered, Unexpected, AssertionError) as error:
            outcome.broken.append(f"{type(error).__name__}: {error}")
            server.stop()
        finally:
            script.close()
        judge(server.data, script, outcome)
    if not outcome.broken:
        shutil.rmtree(folder)
    return outcome


def run_all(folder: Path, crashes: Iterator[Crash]) -> list:
    """One outcome per crash, several at a time, until they come after the end of the script."""
    outcomes = []
    with ThreadPoolExecutor(AT_ONCE) as pool:
        while True:
            some = [(folder / f"{number}", next(crashes)) for number in range(len(outcomes), len(outcomes) + CHUNK)]
            outcomes += pool.map(lambda pair: run_once(*pair), some)
            if not any(outcome.died_at for outcome in outcomes[-CHUNK:]):
                return outcomes


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--at", type=int, required=True)
    parser.add_argument("--mode", choices=("kill", "half", "power"), default="kill")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, help="leave the data in this folder if a promise is broken")
    options = parser.parse_args()
    lib.server.BINARY = CRASHABLE
    with tempfile.TemporaryDirectory(prefix="doorbuster-boundary-") as scratch:
        outcome = run_once((options.keep or Path(scratch)) / "server", Crash(options.at, options.mode, options.seed))
    print(outcome.describe())
    return 1 if outcome.broken else 0


if __name__ == "__main__":
    sys.exit(main())

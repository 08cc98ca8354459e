#!/usr/bin/python3
"""Ends a real server at one write boundary of its data folder, restarts it, and judges what is left.

  boundary.py --at N [--again-at N] [--mode kill|half|power] [--seed N] [--keep FOLDER]
repeats one crash, or one and a second in the restart;
  boundary.py --every N [--crashes-max N] [--mode …]
crashes at every Nth boundary until a promise is broken. Which boundary comes at which number depends a little on how the server's
threads take turns; the operation that it met is printed.
"""
import argparse
import itertools
import json
import re
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
PROMISE = re.compile(r"(P\d+|recount): ")  # a judge's words; anything else went wrong on the way to it
CHUNK = 32  # crashes; more than the length of the script differs from run to run, in steps of a commit


@dataclass(frozen=True)
class Crash:
    at: int = 0  # 0: none, only count
    mode: str = "kill"
    seed: int = 0
    ignores_sync: bool = False
    again_at: int = 0  # the boundary of the restart at which it crashes once more; 0: it does not


@dataclass
class Outcome:
    crash: Crash
    died_at: str = ""  # "sync wal"; empty: the script ended before that boundary came
    died_again_at: str = ""
    count: int = 0  # of boundaries
    kinds: dict = field(default_factory=dict)
    broken: list = field(default_factory=list)

    def describe(self) -> str:
        again = f"--at={self.crash.at} --mode={self.crash.mode} --seed={self.crash.seed}"
        met = self.died_at or "clean end"
        if self.crash.again_at:
            again += f" --again-at={self.crash.again_at}"
            met += f", then at a {self.died_again_at or 'clean end'}"
        promises_first = sorted(self.broken, key=lambda what: PROMISE.match(what) is None)
        return f"{again} (at a {met}): " + "; ".join(promises_first[:5])


def run_until_dead(server: Server, script: Script, outcome: Outcome, at: int, meets_checkpoint: bool) -> dict:
    """Lets the script run on a server that will crash; answers where it did and what it passed."""
    report = server.folder / "boundaries.json"
    report.unlink(missing_ok=True)
    crash = outcome.crash
    server.settings.update(CRASH_REPORT=str(report), CRASH_AT=str(at), CRASH_MODE=crash.mode,
                           CRASH_SEED=str(crash.seed), CRASH_IGNORE_SYNC=str(int(crash.ignores_sync)))
    try:
        server.start()
        script.run(meets_checkpoint)
        status = server.stop()
    except (NotReady, Unanswered):
        status = server.wait()
    if not report.exists():
        outcome.broken.append(f"exit status {status} without a crash: {server.said()}")
        return {"died_at": "", "count": 0, "kinds": {}}
    counted = json.loads(report.read_text())
    if status != (-signal.SIGKILL if counted["died_at"] else 0):
        outcome.broken.append(f"exit status {status}: {server.said()}")
    return counted


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
    if recounted.returncode == 1:
        outcome.broken += [f"recount: {line}" for line in recounted.stdout.splitlines()]
    elif recounted.returncode != 0:
        outcome.broken.append(f"the records cannot be recounted: {recounted.stdout + recounted.stderr}")
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
            first = run_until_dead(server, script, outcome, crash.at, meets_checkpoint=True)
            outcome.died_at, outcome.count, outcome.kinds = first["died_at"], first["count"], first["kinds"]
            if crash.again_at and outcome.died_at:
                second = run_until_dead(server, script, outcome, crash.again_at, meets_checkpoint=False)
                outcome.died_again_at = second["died_at"]
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


def run_all(folder: Path, crashes: Iterator[Crash], until_broken: bool = False) -> list:
    """One outcome per crash, several at a time, until there are no more or they come after the end of the script."""
    outcomes = []
    with ThreadPoolExecutor(AT_ONCE) as pool:
        while True:
            numbers = range(len(outcomes), len(outcomes) + CHUNK)
            some = [(folder / f"{number}", crash) for number, crash in zip(numbers, crashes)]
            outcomes += pool.map(lambda pair: run_once(*pair), some)
            if len(some) < CHUNK or not any(outcome.died_at for outcome in outcomes[-CHUNK:]):
                return outcomes
            if until_broken and any(outcome.broken for outcome in outcomes):
                return outcomes


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--at", type=int)
    which.add_argument("--every", type=int)
    parser.add_argument("--crashes-max", type=int, help="with --every: no more than so many")
    parser.add_argument("--again-at", type=int, default=0)
    parser.add_argument("--mode", choices=("kill", "half", "power"), default="kill")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, help="leave the data in this folder if a promise is broken")
    options = parser.parse_args()
    lib.server.BINARY = CRASHABLE
    with tempfile.TemporaryDirectory(prefix="doorbuster-boundary-") as scratch:
        folder = options.keep or Path(scratch)
        if options.every:
            crashes = (Crash(at, options.mode, options.seed) for at in itertools.count(options.every, options.every))
            outcomes = run_all(folder, itertools.islice(crashes, options.crashes_max), until_broken=True)
        else:
            crash = Crash(options.at, options.mode, options.seed, again_at=options.again_at)
            outcomes = [run_once(folder / "server", crash)]
    for outcome in outcomes:
        if outcome.broken or options.at:
            print(outcome.describe())
    return 1 if any(outcome.broken for outcome in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main())

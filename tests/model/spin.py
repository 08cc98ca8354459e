"""Runs spin's verifier over a model: every state is searched, none is left out by hashing or depth."""
import re
import subprocess
import time
from pathlib import Path

MODELS = Path(__file__).resolve().parents[2] / "model"
DEPTH_MAX = 1_000_000  # the search says so itself when it goes deeper
SECONDS_MAX = 900  # a bound on a hang
MEMORY_MB_MAX = 2048


def search(scratch, model: str, flags: str = "", is_whole: bool = True, may_stop_anywhere: bool = False) -> str:
    """What the verifier reports, after a full search or at the first error. `is_whole`: it will take many states, so the
    compiler takes its time. `may_stop_anywhere`: a Judge in the model says what may be left when nobody can act."""
    defines = [f"-D{flag}" for flag in flags.split()]
    subprocess.run(["spin", *defines, "-a", MODELS / model], cwd=scratch, check=True, capture_output=True, text=True)
    subprocess.run(["gcc", "-w", "-O2" if is_whole else "-O0", "-DSAFETY", "-DNOFAIR", f"-DMEMLIM={MEMORY_MB_MAX}", "-o", "pan",
                    "pan.c"], cwd=scratch, check=True)
    began = time.monotonic()
    ends = ["-E"] if may_stop_anywhere else []
    report = subprocess.run(["./pan", *ends, f"-m{DEPTH_MAX}", "-w22"], cwd=scratch, timeout=SECONDS_MAX,
                            capture_output=True, text=True).stdout
    states = re.search(r"(\d+) states, stored", report)
    wrong = re.search(r"^pan:\d+: (.*)", report, re.MULTILINE)
    print(f"  {model:12} {flags or 'all rules':48} {int(states[1]) if states else 0:>9,} states  "
          f"{time.monotonic() - began:5.1f} s  {wrong[1] if wrong else ''}", flush=True)
    return report


def assert_kept(report: str) -> None:
    assert "errors: 0" in report, report
    assert "Full statespace search" in report and "Search not completed" not in report, report
    assert "max search depth too small" not in report, report


def assert_caught(report: str, flag: str) -> None:
    assert re.search(r"errors: [1-9]", report), f"{flag} was not caught:\n{report}"
    # By a broken promise, not by a model that got stuck.
    assert re.search(r"^pan:1: assertion violated", report, re.MULTILINE), report


def flags_of(body: str) -> list:
    return sorted(set(re.findall(r"#ifn?def (\w+)", body) + re.findall(r"defined\((\w+)\)", body)))


def rules_named(comment: str) -> list:
    return sorted(re.findall(r"^ \*   ([A-Z][A-Z0-9_]+) ", comment, re.MULTILINE))

"""The model of payment against expiry: every order of events keeps the promises, and no rule of it is idle.

spin searches all states (no bit-state hashing, no depth left out). A flag removes one rule of the
model, or is a control that something can be reached; a flag that spin does not catch is a failure.
Show a trace: `spin -DFLAG -a model/pay.pml && gcc -o pan pan.c && ./pan && spin -DFLAG -t -p model/pay.pml`.
"""
import re
import subprocess
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MODEL = ROOT / "model" / "pay.pml"
TEXT = MODEL.read_text()
COMMENT, BODY = TEXT.split("*/", 1)
FLAGS = sorted(set(re.findall(r"#ifn?def (\w+)", BODY) + re.findall(r"defined\((\w+)\)", BODY)))
DEPTH_MAX = 1_000_000  # the search says so itself when it goes deeper
SECONDS_MAX = 120
MEMORY_MB_MAX = 2048


def search(scratch, flag=None) -> str:
    """What spin's verifier reports, after a full search or at the first error."""
    flags = [f"-D{flag}"] if flag else []
    subprocess.run(["spin", *flags, "-a", MODEL], cwd=scratch, check=True, capture_output=True, text=True)
    # A flag is caught after few states: there the compiler takes the longest.
    optimise = "-O0" if flag else "-O2"
    subprocess.run(["gcc", "-w", optimise, "-DSAFETY", "-DNOFAIR", f"-DMEMLIM={MEMORY_MB_MAX}", "-o", "pan", "pan.c"],
                   cwd=scratch, check=True)
    began = time.monotonic()
    report = subprocess.run(["./pan", f"-m{DEPTH_MAX}", "-w22"], cwd=scratch, timeout=SECONDS_MAX,
                            capture_output=True, text=True).stdout
    states = re.search(r"(\d+) states, stored", report)
    wrong = re.search(r"^pan:\d+: (.*)", report, re.MULTILINE)
    print(f"  {flag or 'all rules':18} {int(states[1]) if states else 0:>9,} states  "
          f"{time.monotonic() - began:5.1f} s  {wrong[1] if wrong else ''}", flush=True)
    return report


def test_with_all_rules_every_order_of_events_keeps_the_promises(tmp_path):
    report = search(tmp_path)
    assert "errors: 0" in report, report
    assert "Full statespace search" in report and "Search not completed" not in report, report
    assert "max search depth too small" not in report, report


@pytest.mark.parametrize("flag", FLAGS)
def test_a_removed_rule_is_caught(tmp_path, flag):
    report = search(tmp_path, flag)
    assert re.search(r"errors: [1-9]", report), f"{flag} was not caught:\n{report}"
    # By a broken promise, not by a model that got stuck.
    assert re.search(r"^pan:1: assertion violated", report, re.MULTILINE), report


def test_the_models_comment_names_every_rule_that_can_be_removed():
    named = re.findall(r"^ \*   ([A-Z][A-Z_]+) ", COMMENT, re.MULTILINE)
    assert sorted(named) == [flag for flag in FLAGS if not flag.startswith("REACH_")]


def test_an_orders_steps_are_those_of_the_code():
    code = (ROOT / "src" / "sale" / "states.cpp").read_text()
    table = code[code.index("order_steps ="):code.index("}();", code.index("order_steps ="))]
    in_code = set(re.findall(r"\{(\w+),\s+(\w+)\}", table))
    in_model = set(re.findall(r"a == (\w+) && b == (\w+)", BODY))
    assert len(in_code) > 10
    assert in_model == in_code

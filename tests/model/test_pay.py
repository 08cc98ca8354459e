"""The model of payment against expiry: every order of events keeps the promises, and no rule of it is idle.

spin searches all states (no bit-state hashing, no depth left out). A flag removes one rule of the
model, or is a control that something can be reached; a flag that spin does not catch is a failure.
Show a trace: `spin -DFLAG -a model/pay.pml && gcc -o pan pan.c && ./pan && spin -DFLAG -t -p model/pay.pml`.
"""
import re
from pathlib import Path

import pytest
from spin import MODELS, assert_caught, assert_kept, flags_of, rules_named, search

ROOT = Path(__file__).resolve().parents[2]
COMMENT, BODY = (MODELS / "pay.pml").read_text().split("*/", 1)
FLAGS = flags_of(BODY)


def test_with_all_rules_every_order_of_events_keeps_the_promises(tmp_path):
    assert_kept(search(tmp_path, "pay.pml"))


@pytest.mark.parametrize("flag", FLAGS)
def test_a_removed_rule_is_caught(tmp_path, flag):
    assert_caught(search(tmp_path, "pay.pml", flag, is_whole=False), flag)


def test_the_models_comment_names_every_rule_that_can_be_removed():
    assert rules_named(COMMENT) == [flag for flag in FLAGS if not flag.startswith("REACH_")]


def test_an_orders_steps_are_those_of_the_code():
    code = (ROOT / "src" / "sale" / "states.cpp").read_text()
    table = code[code.index("order_steps ="):code.index("}();", code.index("order_steps ="))]
    in_code = set(re.findall(r"\{(\w+),\s+(\w+)\}", table))
    in_model = set(re.findall(r"a == (\w+) && b == (\w+)", BODY))
    assert len(in_code) > 10
    assert in_model == in_code

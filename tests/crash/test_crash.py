"""Kills a real server under load again and again; each promise is one test on the one run."""
import random

import pytest

from crash import CrashRun


@pytest.fixture(scope="module")
def outcome(request, tmp_path_factory):
    seed = request.config.getoption("--seed")
    if seed is None:
        seed = random.SystemRandom().randrange(1 << 32)
    return CrashRun(tmp_path_factory.mktemp("crash"), request.config.getoption("--kills"), seed).run()


def test_enough_kills_met_purchases_that_were_accepted_but_not_answered(outcome):
    assert outcome.met_unanswered >= outcome.met_min, f"seed {outcome.seed}"


def test_enough_kills_met_purchases_that_were_answered_but_not_ordered(outcome):
    assert outcome.met_unordered >= outcome.met_min, f"seed {outcome.seed}"


@pytest.mark.parametrize("promise", ["P1", "P2", "P3", "P4", "P5", "P6"])
def test_the_promise_holds_at_the_end(outcome, promise):
    assert any(of == promise for of, _ in outcome.at_end.checked), "it was not even looked at"
    assert outcome.at_end.faults[promise][:5] == [], f"seed {outcome.seed}"


@pytest.mark.parametrize("promise", ["P1", "P3", "P4", "P5", "P6"])
def test_the_promise_holds_in_what_each_kill_left_behind(outcome, promise):
    assert outcome.at_kills.faults[promise][:5] == [], f"seed {outcome.seed}"


def test_what_is_left_can_be_bought_to_the_unit(outcome):
    assert outcome.last_sold, "nothing was tried"
    for item, (left, sold) in outcome.last_sold.items():
        assert left == sold, f"{item}, seed {outcome.seed}"


def test_the_last_server_stops_in_peace(outcome):
    assert outcome.exit_status == 0

"""Ends a real server at every write boundary of its data folder, in each way to die."""
import itertools
import random
from collections import Counter

import lib.server
import pytest

from boundary import CRASHABLE, Crash, run_all, run_once

POWER_CUTS = 2  # per boundary: each takes something else
# In a run without a crash: less would mean that the script no longer meets what it is for.
COUNT_MIN = {"write wal": 150, "sync wal": 25, "write db": 15, "sync db": 4, "write journal": 2,
             "sync journal": 2, "delete journal": 2}
RESTART_BOUNDARIES = 12  # the first orders of a restart are written within so many
SYNC_LIES = 60  # boundaries between two tries on the disk that lies


@pytest.fixture(autouse=True)
def crashable(monkeypatch):
    monkeypatch.setattr(lib.server, "BINARY", CRASHABLE)


@pytest.fixture(scope="module")
def seed(request):
    given = request.config.getoption("--seed")
    return given if given is not None else random.SystemRandom().randrange(1 << 32)


@pytest.fixture(scope="module")
def step(request):
    return request.config.getoption("--boundary-step")


def crashes(mode: str, seed: int, step: int, per_boundary: int = 1):
    """At every boundary, or at one in so many, without an end."""
    choice = random.Random(f"{mode}-{seed}")
    for at in itertools.count(choice.randint(1, step), step):
        for _ in range(per_boundary):
            yield Crash(at, mode, choice.randrange(1 << 32))


def double_crashes(seed: int, step: int):
    """One in three boundaries, and then one of the first of the restart: it reads both logs and writes
    the orders that were promised."""
    choice = random.Random(f"double-{seed}")
    for at in itertools.count(choice.randint(1, 3 * step), 3 * step):
        yield Crash(at, choice.choice(("kill", "half", "power")), choice.randrange(1 << 32),
                    again_at=choice.randint(1, RESTART_BOUNDARIES))


def tell(mode: str, seed: int, outcomes: list) -> list:
    """Prints what was met; answers what was broken."""
    met = Counter(outcome.died_at for outcome in outcomes if outcome.died_at)
    kinds = ", ".join(f"{count} {kind}" for kind, count in met.most_common())
    broken = [outcome.describe() for outcome in outcomes if outcome.broken]
    print(f"\nboundary: {mode}, seed {seed}: {sum(met.values())} crashes, up to boundary "
          f"{max(outcome.crash.at for outcome in outcomes if outcome.died_at)} ({kinds}); "
          f"promises broken in {len(broken)}")
    return broken


def test_a_run_without_a_crash_passes_every_kind_of_boundary(tmp_path):
    outcome = run_once(tmp_path / "clean", Crash())
    print(f"\nboundary: {outcome.count} in a run without a crash: {outcome.kinds}")
    assert outcome.broken == []
    for kind, count_min in COUNT_MIN.items():
        assert outcome.kinds[kind] >= count_min, kind


@pytest.mark.parametrize("mode", ["kill", "half"])
def test_a_kill_at_any_boundary_breaks_no_promise(tmp_path, mode, seed, step):
    assert tell(mode, seed, run_all(tmp_path, crashes(mode, seed, step))) == []


def test_a_power_cut_at_any_boundary_breaks_no_promise(tmp_path, seed, step):
    assert tell("power", seed, run_all(tmp_path, crashes("power", seed, step, POWER_CUTS))) == []


def test_a_second_crash_during_the_restart_breaks_no_promise(tmp_path, seed, step):
    outcomes = run_all(tmp_path, double_crashes(seed, step))
    again = Counter(outcome.died_again_at for outcome in outcomes if outcome.died_again_at)
    assert tell("twice", seed, outcomes) == []
    print(f"boundary: of these, crashed again in the restart: {again}")
    first = sum(bool(outcome.died_at) for outcome in outcomes)
    assert 2 * sum(again.values()) >= first, "the restart no longer meets what this is for"


def test_a_disk_that_lies_about_its_syncs_is_noticed(tmp_path, seed):
    """The test can fail: without syncs, what was promised is lost, and the judge says so."""
    choice = random.Random(seed)
    for at in itertools.count(SYNC_LIES, SYNC_LIES):
        outcome = run_once(tmp_path / str(at), Crash(at, "power", choice.randrange(1 << 32), ignores_sync=True))
        assert outcome.died_at, f"every promise was kept on a disk that keeps nothing, seed {seed}"
        if any(fault.startswith("P3: every 202") for fault in outcome.broken):
            return

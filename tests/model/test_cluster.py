"""The models of the cluster: every order of events keeps the promises, and no rule of them is idle.

A flag removes one rule of a model; the sizes beside it are the smallest in which its absence was seen to matter.
Show a trace: `spin -DFLAG -DNP=1 -a model/cluster.pml && gcc -o pan pan.c && ./pan -E && spin -DFLAG -DNP=1 -t -p model/cluster.pml`.
"""
import pytest
from spin import MODELS, assert_caught, assert_kept, flags_of, rules_named, search

# With all rules: two purchases, of which one may be repeated; then, smaller, what else may happen.
WHOLE = ("NP=2",
         "WEAK_FENCE HARD NP=2 T0=1 XP=0 SWC=0 MAXE=3",
         "NP=1 SPLIT_RESERVE",
         "NP=1 RESTOCK",
         "NP=1 ZOMBIE",
         "NP=1 TWO_COORD PLANNED=1 XP=0")

REMOVED = {
    "BLIND_DEC": "WEAK_FENCE NP=2 UNITS=1 T0=1 XP=0 SWC=0",
    "COMPENSATE": "NP=1",
    "LATE_CANCEL": "NP=1",
    "LOAD_UNCHECKED": "NP=1 TWO_COORD PLANNED=1 NO_ROLLBACK",
    "NO_IDS": "NP=1",
    "NO_LEASE_CHECK": "NP=1",
    "NO_PG_LIMIT": "WEAK_FENCE NP=4 T0=1 T1=0 T2=0 XP=0 SWC=0",
    "NO_SEAL": "NP=1",
    "REINSTATE_PG": "NP=1",
    "RELAY_MARK_FENCED": "NP=1",
    "RELEASE_ANY_EPOCH": "NP=1 PLANNED=1 NO_ROLLBACK",
    "REL_EPOCH_PURCHASE": "NP=1",
    "REPEAT_202": "NP=1",
    "RESTOCK_REDIS_FIRST": "RESTOCK NP=1 XP=0",
    "SEAL_FIRST": "NP=1",
    "TAKEOVER_UNMARKED": "NP=1 TWO_COORD PLANNED=1 NO_ROLLBACK",
    "XDEL_BLIND": "WEAK_FENCE NP=2 T0=1 T1=2 XP=0 SWC=0 MAXE=3",
}
REACHED = {"REACH1": "NP=2 T0=1", "REACH2": "NP=2 T0=1 XP=0"}
SIZES = {"NP", "UNITS", "NG", "MAXE", "KQ", "T0", "T1", "T2", "T3", "XP", "PLANNED", "SWC", "CALLS"}
WORLDS = {"WEAK_FENCE", "HARD", "RESTOCK", "TWO_COORD", "NO_ROLLBACK", "SPLIT_RESERVE", "ZOMBIE", "NO_RELEASE", "NO_REBUILD"}
CONTROLS = {"REACH", *REACHED}


def removable(model: str) -> list:
    body = (MODELS / model).read_text().split("*/", 1)[1]
    return [flag for flag in flags_of(body) if flag not in SIZES | WORLDS | CONTROLS]


@pytest.mark.parametrize("sizes", WHOLE)
def test_with_all_rules_every_order_of_events_keeps_the_promises(tmp_path, sizes):
    assert_kept(search(tmp_path, "cluster.pml", sizes, may_stop_anywhere=True))


@pytest.mark.parametrize("flag", sorted(REMOVED))
def test_a_removed_rule_is_caught(tmp_path, flag):
    assert_caught(search(tmp_path, "cluster.pml", f"{flag} {REMOVED[flag]}", is_whole=False, may_stop_anywhere=True), flag)


@pytest.mark.parametrize("flag", sorted(REACHED))
def test_what_the_rules_are_for_is_reached(tmp_path, flag):
    assert_caught(search(tmp_path, "cluster.pml", f"{flag} {REACHED[flag]}", may_stop_anywhere=True), flag)


def test_every_rule_that_can_be_removed_is_named_and_tried():
    comment = (MODELS / "cluster.pml").read_text().split("*/", 1)[0]
    assert rules_named(comment) == removable("cluster.pml") == sorted(REMOVED)


def test_with_all_rules_buckets_lose_nothing_and_say_sold_out_only_when_they_are(tmp_path):
    assert_kept(search(tmp_path, "bucket.pml", may_stop_anywhere=True))


@pytest.mark.parametrize("flag", removable("bucket.pml"))
def test_a_removed_rule_of_the_buckets_is_caught(tmp_path, flag):
    assert_caught(search(tmp_path, "bucket.pml", flag, is_whole=False, may_stop_anywhere=True), flag)


def test_every_rule_of_the_buckets_is_named():
    comment = (MODELS / "bucket.pml").read_text().split("*/", 1)[0]
    assert rules_named(comment) == removable("bucket.pml")

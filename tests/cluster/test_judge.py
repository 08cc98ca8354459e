"""The judge of a cluster can say no, and reads what PostgreSQL has."""
import copy

import pytest

from judge import check_all
from lib.checker import Histories
from lib.cluster_records import ClusterRecords


def purchase_id(number: int) -> str:
    return f"{number:032x}"


class World:
    """Ten units; two epochs, Redis lost between them; five purchases, one of them cancelled because it came late."""

    def __init__(self):
        takes = [(1, "ann", 2, 1), (2, "bob", 2, 2), (3, "cid", 4, 1), (4, "dan", 4, 2)]
        self.purchases = [self.purchase(number, buyer, epoch, sequence) for number, buyer, epoch, sequence in takes]
        self.purchases.append({**self.purchase(5, "eve", 2, 4), "state": "cancelled", "reason": "late", "order_id": None})
        self.orders = [{"id": 100 + number, "purchase": purchase_id(number), "sale": "s", "item": "phone", "buyer": buyer,
                        "units": 1, "state": "pending_payment", "hold": "held", "reason": None}
                       for number, buyer, _, _ in takes]
        self.items = [{"sale": "s", "id": "phone", "units_per_buyer_max": 1, "units_total": 10, "units_available": 6,
                       "units_held": 4, "units_sold": 0, "epoch": 4}]
        self.holdings = [{"sale": "s", "item": "phone", "buyer": buyer, "units": 1} for _, buyer, _, _ in takes]
        self.late, self.told = [], {purchase_id(5)}
        self.lines = [self.bought(1, "ann", 1, 10, 20), self.bought(2, "bob", 2, 30, 40), self.unheard("eve", 41, 42),
                      self.bought(3, "cid", 1, 50, 60), self.bought(4, "dan", 2, 70, 80)]
        self.gaps_until = {"phone": 4}

    @staticmethod
    def purchase(number, buyer, epoch, sequence):
        return {"id": purchase_id(number), "sale": "s", "item": "phone", "buyer": buyer, "units": 1, "bucket": 0,
                "epoch": epoch, "sequence": sequence, "state": "ordered", "reason": None, "order_id": 100 + number}

    @staticmethod
    def bought(number, buyer, sequence, sent, heard):
        return {"kind": "purchase", "buyer": buyer, "item": "phone", "units": 1, "key": f"{buyer}-1", "sent": sent,
                "heard": heard, "status": 202, "code": None, "id": purchase_id(number), "sequence": sequence}

    @staticmethod
    def unheard(buyer, sent, heard, status=503, code="unknown"):
        return {"kind": "purchase", "buyer": buyer, "item": "phone", "units": 1, "key": f"{buyer}-1", "sent": sent,
                "heard": heard, "status": status, "code": code}

    def judged(self):
        purchases = copy.deepcopy(self.purchases)
        records = ClusterRecords(ledger=[{**row, "purchase": row["id"]} for row in purchases], items=self.items,
                                 purchases=purchases, orders=self.orders, holdings=self.holdings, dead_letters=[],
                                 position=None)
        records.late, records.told = self.late, self.told
        restocks = [{"item": "phone", "units": 10, "sent": 0, "heard": 1, "status": 201}]
        return check_all(records, Histories(copy.deepcopy(self.lines)), restocks, self.gaps_until)


def test_an_honest_world_passes():
    report = World().judged()
    assert dict(report.faults) == {}
    assert {promise for promise, _ in report.checked} >= {"P1", "P3", "P4", "P5", "P6"}


def drop_a_yes(world):
    world.purchases[0].update(state="cancelled", reason="no unit left", order_id=None)
    world.orders.pop(0)
    world.holdings.pop(0)
    world.items[0].update(units_available=7, units_held=3)
    world.told.add(purchase_id(1))


SPOILT = {
    "a gap where Redis was not lost": ("P6", lambda world: world.purchases[3].update(sequence=3)),
    "a gap in an epoch that lost nothing": ("P6", lambda world: world.gaps_until.clear()),
    "one number twice": ("P6", lambda world: world.purchases[1].update(sequence=1)),
    "a late record with a number that is taken": ("P6", lambda world: world.late.append(
        {**World.purchase(9, "zoe", 4, 2), "purchase": purchase_id(9)})),
    "a later buyer in an earlier epoch": ("P6", lambda world: world.purchases[3].update(epoch=2, sequence=3)),
    "a yes that was cancelled": ("P3", drop_a_yes),
    "a cancellation that nobody was told of": ("P3", lambda world: world.told.clear()),
    "a yes that was lost with Redis": ("P3", lambda world: world.lines.append(world.bought(7, "fay", 3, 45, 46))),
    "sold out while units were there": ("P2", lambda world: world.lines.append(
        world.unheard("gus", 90, 91, 409, "sold_out"))),
}


@pytest.mark.parametrize("name", SPOILT)
def test_a_spoilt_world_is_found(name):
    promise, spoil = SPOILT[name]
    world = World()
    spoil(world)
    assert world.judged().faults[promise], f"{name} went unnoticed"

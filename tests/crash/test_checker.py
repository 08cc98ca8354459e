"""The judge can say no: an honest world passes, and each way to spoil it is found."""
import copy
import sqlite3

import pytest

from checker import Histories, check_all

LEDGER = """CREATE TABLE ledger(position INTEGER PRIMARY KEY, sale, item, epoch, bucket, sequence, purchase BLOB,
    buyer, units, accepted_at_ms)"""
ORDERS = """
CREATE TABLE items(sale, id, units_per_buyer_max, units_total, units_available, units_held, units_sold);
CREATE TABLE purchases(id BLOB, sale, item, buyer, units, sequence, accepted_at_ms, position, state, reason, order_id);
CREATE TABLE orders(id INTEGER PRIMARY KEY, purchase BLOB, sale, item, buyer, units, amount_minor, state, hold, reason);
CREATE TABLE buyer_holdings(sale, item, buyer, units);
CREATE TABLE dead_letters(position, reason, record, buried_at_ms);
CREATE TABLE worker(position);
"""


def purchase_id(number: int) -> str:
    return f"{number:032x}"


class World:
    """Ten units and a restock of two, four purchases: one cancelled, one whose answer was lost."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir()
        self.ledger, self.orders = (sqlite3.connect(folder / name) for name in ("ledger.db", "orders.db"))
        self.ledger.execute(LEDGER)
        self.orders.executescript(ORDERS)
        for number, (buyer, units) in enumerate([("ann", 1), ("bob", 2), ("ann", 1), ("cid", 2)], start=1):
            self.ledger.execute("INSERT INTO ledger VALUES(?,'s','phone',0,0,?,?,?,?,0)",
                                (number, number, bytes.fromhex(purchase_id(number)), buyer, units))
            self.order(number, number, buyer, units)
        self.orders.execute("UPDATE orders SET state='cancelled', hold='finished', reason='by the buyer' WHERE id=102")
        self.orders.execute("INSERT INTO items VALUES('s','phone',2,12,8,4,0)")
        self.orders.executemany("INSERT INTO buyer_holdings VALUES('s','phone',?,?)", [("ann", 2), ("cid", 2)])
        self.orders.execute("INSERT INTO worker VALUES(4)")
        self.restocks = [self.stocked(10, 0, 200), self.stocked(2, 5, 200), self.stocked(7, 6, None)]
        self.lines = [
            self.bought(1, "ann", 1, 10, 20), self.bought(2, "bob", 2, 11, 21), self.bought(3, "ann", 1, 30, 40),
            self.bought(1, "ann", 1, 50, 60),
            self.refused("dan", 2, 70, 80, None, None), self.refused("cid", 2, 41, 80, None, None),
            {"kind": "cancel", "buyer": "bob", "order": "102", "id": purchase_id(2), "units": 2, "item": "phone",
             "sent": 60, "heard": 65, "status": 200, "code": None},
            {"kind": "look", "buyer": "ann", "id": purchase_id(1), "sent": 90, "heard": 91, "status": 200,
             "code": None, "state": "ordered"},
            {**self.refused("ann", 1, 95, 96, 409, "limit_reached"), "names": purchase_id(3)},
        ]

    def order(self, number, order, buyer, units):
        identity = bytes.fromhex(purchase_id(number))
        self.orders.execute("INSERT INTO purchases VALUES(?,'s','phone',?,?,?,0,?,'ordered',NULL,?)",
                            (identity, buyer, units, number, number, 100 + order))
        self.orders.execute("INSERT INTO orders VALUES(?,?,'s','phone',?,?,0,'pending_payment','held',NULL)",
                            (100 + order, identity, buyer, units))

    @staticmethod
    def stocked(units, at, status):
        return {"item": "phone", "units": units, "sent": at, "heard": at, "status": status}

    @staticmethod
    def bought(number, buyer, units, sent, heard):
        return {"kind": "purchase", "buyer": buyer, "item": "phone", "units": units, "key": f"{buyer}-{number}",
                "sent": sent, "heard": heard, "status": 202, "code": None, "id": purchase_id(number),
                "sequence": number}

    @staticmethod
    def refused(buyer, units, sent, heard, status, code):
        return {"kind": "purchase", "buyer": buyer, "item": "phone", "units": units, "key": f"{buyer}-{sent}",
                "sent": sent, "heard": heard, "status": status, "code": code}

    def judged(self):
        self.ledger.commit()
        self.orders.commit()
        return check_all(self.folder, Histories(copy.deepcopy(self.lines)), self.restocks)


@pytest.fixture
def world(tmp_path):
    return World(tmp_path / "data")


def test_an_honest_world_passes(world):
    report = world.judged()
    assert dict(report.faults) == {}
    assert {promise for promise, _ in report.checked} >= {"P1", "P3", "P4", "P5", "P6"}


def test_a_sold_out_that_was_true_passes(world):
    world.lines.append(world.refused("eve", 11, 97, 98, 409, "sold_out"))
    report = world.judged()
    assert dict(report.faults) == {} and any(promise == "P2" for promise, _ in report.checked)


def sql(database, statement):
    return lambda world: getattr(world, database).execute(statement)


def line(number, **changes):
    return lambda world: world.lines[number].update(changes)


def add(make):
    return lambda world: world.lines.append(make(world))


def serve_the_third_first(world):
    world.lines[2].update(sent=2, heard=3)


SPOILT = {
    "a unit vanished": ("P1", sql("orders", "UPDATE items SET units_available=7")),
    "a unit too many": ("P1", sql("orders", "UPDATE items SET units_available=9, units_total=13")),
    "stock below zero": ("P1", sql("orders", "UPDATE items SET units_available=-1, units_held=13")),
    "held without an order": ("P1", sql("orders", "UPDATE items SET units_available=7, units_held=5")),
    "units given back by an order that goes on": ("P1", sql("orders", "UPDATE orders SET hold='finished' WHERE id=101")),
    "a restock forgotten": ("P1", sql("orders", "UPDATE items SET units_total=10, units_available=6")),
    "sold out while units were there": ("P2", add(lambda w: w.refused("eve", 1, 97, 98, 409, "sold_out"))),
    "an error that explains nothing": ("P2", add(lambda w: w.refused("eve", 1, 97, 98, 500, "internal"))),
    "an order lost": ("P3", sql("orders", "DELETE FROM orders WHERE id=101")),
    "a purchase lost": ("P3", sql("orders", "DELETE FROM purchases WHERE position=1")),
    "a ledger record lost": ("P3", sql("ledger", "DELETE FROM ledger WHERE position=4")),
    "an order with other units": ("P3", sql("orders", "UPDATE orders SET units=1 WHERE id=104")),
    "an order of nobody's purchase": ("P3", sql("orders", "INSERT INTO orders VALUES(200,x'ff','s','phone','x',1,0,'paid','sold',NULL)")),
    "two orders of one purchase": ("P3", sql("orders", "INSERT INTO orders SELECT 200,purchase,sale,item,buyer,units,0,state,hold,reason FROM orders WHERE id=101")),
    "a purchase nobody asked for": ("P3", line(5, buyer="somebody else")),
    "a cancellation nobody asked for": ("P3", lambda world: world.lines.pop(6)),
    "a cancellation without a reason": ("P3", sql("orders", "UPDATE orders SET reason=NULL WHERE id=102")),
    "a cancellation undone": ("P3", sql("orders", "UPDATE orders SET state='paid' WHERE id=102")),
    "an answer that was never recorded": ("P3", add(lambda w: w.bought(9, "eve", 1, 97, 98))),
    "a promised purchase not found": ("P3", line(7, status=404)),
    "the worker behind": ("P3", sql("orders", "UPDATE worker SET position=3")),
    "a dead letter": ("P3", sql("orders", "INSERT INTO dead_letters VALUES(1,'r','x',0)")),
    "over the limit": ("P4", sql("orders", "UPDATE orders SET buyer='ann' WHERE id=104")),
    "a holding forgotten": ("P4", sql("orders", "DELETE FROM buyer_holdings WHERE buyer='cid'")),
    "a holding kept after a cancel": ("P4", sql("orders", "INSERT INTO buyer_holdings VALUES('s','phone','bob',2)")),
    "a holding of other units": ("P4", sql("orders", "UPDATE buyer_holdings SET units=1 WHERE buyer='ann'")),
    "a key with two purchases": ("P5", line(3, id=purchase_id(3), sequence=3)),
    "a key with two sequences": ("P5", line(3, sequence=2)),
    "a purchase with two ledger records": ("P5", sql("ledger", "INSERT INTO ledger SELECT 5,sale,item,0,0,5,purchase,buyer,units,0 FROM ledger WHERE position=1")),
    "a winner who hears sold_out": ("P5", line(3, status=409, code="sold_out", id=None, sequence=None)),
    "a limit that names another's purchase": ("P5", line(8, names=purchase_id(4))),
    "a gap in the sequence": ("P6", sql("ledger", "UPDATE ledger SET sequence=5 WHERE position=4")),
    "a sequence out of order": ("P6", sql("ledger", "UPDATE ledger SET sequence=5-sequence WHERE position IN (2,3)")),
    "a later buyer with a lower number": ("P6", serve_the_third_first),
}


@pytest.mark.parametrize("name", SPOILT)
def test_a_spoilt_world_is_found(world, name):
    promise, spoil = SPOILT[name]
    spoil(world)
    assert world.judged().faults[promise], f"{name} went unnoticed"

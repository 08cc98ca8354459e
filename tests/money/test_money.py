"""Thousands of orders against a provider that delays, repeats, reorders, loses, forges and lies, and a
server that dies in the middle. Afterwards money and goods agree, order by order."""
import base64
import collections
import json
import random
import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from crowd import Buyer, Server as Address, Told
from lib.cli import operator_of
from lib.ports import free_port
from lib.receiver import Receiver
from lib.sandbox import EVERY_FAULT, Sandbox
from lib.server import Server
from lib.shop import Shop, item_terms

POLICIES = ("reserve", "at_order", "at_payment")
PLACES = 24
SETTLED_S_MAX = 180
SHOP_SECRET = "whsec_" + base64.b64encode(bytes(24)).decode()
FINAL = ("paid", "expired", "cancelled", "refunded")


class Scene:
    def __init__(self, folder, faults, seed):
        self.port = free_port()
        self.provider = Sandbox(folder, f"http://127.0.0.1:{self.port}/v1/payments/webhook", faults, seed)
        self.provider.start()
        self.receiver = Receiver()
        self.server = Server(folder, DOORBUSTER_SERVER__LISTEN=f"127.0.0.1:{self.port}",
                             DOORBUSTER_PAYMENTS__LOOK_MS_MIN="300", DOORBUSTER_PAYMENTS__LOOK_MS_MAX="3000",
                             DOORBUSTER_PAYMENTS__VOID_WATCH_S="8", DOORBUSTER_PAYMENTS__TIMEOUT_MS="3000",
                             DOORBUSTER_RISK__STRIKES_BAR="1000", DOORBUSTER_RISK__STRIKES_SLOW="1000",
                             DOORBUSTER_WEBHOOKS__URL=self.receiver.url, DOORBUSTER_WEBHOOKS__ALLOW_PRIVATE="true",
                             DOORBUSTER_WEBHOOKS__SECRETS=SHOP_SECRET, **self.provider.settings())
        self.shop = Shop(self.server).start()
        self.address = Address(self.port, self.server.hmac_secret)
        self.address.is_up.set()
        self.told = Told()

    def open_sales(self, units: int, payment_window_s: int) -> list:
        return [self.shop.open_sale(stock_policy=policy, payment_window_s=payment_window_s,
                                    items=[item_terms(units_total=units)])
                for policy in POLICIES]

    def kill_and_restart(self) -> None:
        self.address.is_up.clear()
        self.server.kill()
        self.shop.close()
        self.shop.restart()
        self.address.is_up.set()

    def rows(self, query: str, *values) -> list:
        with sqlite3.connect(f"file:{self.server.data}/orders.db?mode=ro", uri=True) as database:
            database.row_factory = sqlite3.Row
            return database.execute(query, values).fetchall()

    def wait_until_settled(self) -> None:
        deadline = time.monotonic() + SETTLED_S_MAX
        unsettled = f"SELECT count(*) FROM orders WHERE state NOT IN {FINAL}"
        watched = "SELECT count(*) FROM payments WHERE look_at_ms IS NOT NULL"
        while self.rows(unsettled)[0][0] or self.rows(watched)[0][0]:
            assert time.monotonic() < deadline, (
                f"never settled: {[dict(row) for row in self.rows('SELECT state, count(*) FROM orders GROUP BY 1')]}")
            time.sleep(0.1)

    def close(self) -> None:
        self.shop.close()
        if self.server.running():
            self.server.kill()
        self.provider.__exit__()
        self.receiver.__exit__()


@pytest.fixture
def scene(tmp_path):
    opened = []

    def make(faults, seed):
        opened.append(Scene(tmp_path, faults, seed))
        return opened[-1]
    yield make
    for one in opened:
        one.close()


def rush(scene, sales, buyers: int, kills: int, seed: int) -> None:
    """All buyers, a few at a time; the server is killed at moments that the dice choose."""
    dice = random.Random(seed)
    kill_at = sorted(dice.sample(range(1, buyers), kills))
    served, lock, wake = 0, threading.Lock(), threading.Condition()

    def one(number: int) -> None:
        nonlocal served
        Buyer(f"buyer-{number}", scene.address, scene.provider, scene.told,
              random.Random(f"{seed}-{number}")).shop_at(sales[number % len(sales)])
        with wake:
            served += 1
            wake.notify_all()

    with ThreadPoolExecutor(PLACES) as places:
        jobs = [places.submit(one, number) for number in range(buyers)]
        for moment in kill_at:
            with wake:
                wake.wait_for(lambda: served >= moment or any(job.done() and job.exception() for job in jobs))
            scene.kill_and_restart()
        for job in jobs:
            job.result()


def judge(scene) -> collections.Counter:
    """Order by order: what the provider has, what the order says, where the unit is."""
    at_provider = collections.defaultdict(list)
    for payment in scene.provider.payments():
        at_provider[payment["reference"]].append(payment)
    counts, wrong = collections.Counter(), []
    for order in scene.rows("SELECT * FROM orders"):
        kept = [payment for payment in at_provider[str(order["id"])] if payment["state"] == "captured"]
        back = [payment for payment in at_provider[str(order["id"])] if payment["state"] == "refunded"]
        paid = order["state"] == "paid"
        if len(kept) != (1 if paid else 0):
            wrong.append((dict(order), "money kept", kept))
        if kept and (kept[0]["captured_minor"], kept[0]["captured_currency"]) != (order["amount_minor"], order["currency"]):
            wrong.append((dict(order), "paid with the wrong amount", kept))
        if not paid and order["hold"] != "finished":
            wrong.append((dict(order), "unpaid, and its unit is not back", []))
        if order["state"] == "refunded" and not back:
            wrong.append((dict(order), "called refunded, but nothing was", []))
        counts[order["state"]] += 1
        counts["refunds"] += len(back)
    known = {order["purchase"].hex() for order in scene.rows("SELECT purchase FROM orders")}
    cancelled = {row["id"].hex() for row in scene.rows("SELECT id FROM purchases WHERE order_id IS NULL")}
    for purchase in scene.told.accepted - known - cancelled:
        wrong.append((purchase, "was promised and is nowhere", []))
    assert not wrong, f"{len(wrong)} wrong, for example {wrong[:3]}"
    for item in scene.rows("SELECT * FROM items"):
        sold = scene.rows("SELECT coalesce(sum(units), 0) FROM orders WHERE sale = ? AND state = 'paid'", item["sale"])
        assert item["units_sold"] == sold[0][0] and item["units_held"] == 0, dict(item)
    return counts


def audit(scene, sales, tmp_path) -> None:
    operator = operator_of(scene.server, tmp_path)
    for sale in sales:
        for command in ("reconcile", "replay"):
            done = operator(command, sale)
            assert done.returncode == 0, f"{command} {sale}:\n{done.stdout}{done.stderr}"


def stories_of(order) -> list:
    """What may have been told of an order that ended like this, each of it once. More than one only where an order that
    was underpaid may have ended before."""
    ended = order["falls_to"]
    if order["state"] in ("expired", "cancelled"):
        return [{"created", order["state"]}]
    if order["state"] == "paid":
        came_back = order["holder"] is not None and order["holder"] != order["purchase"]
        return [{"created", ended, "reinstated", "paid"} if came_back else {"created", "paid"}]
    refunded = {"created", "refunding", "refunded"}
    return {"it was paid too late, and no unit was left": [refunded | {ended}],
            "it was paid, but no unit was left": [refunded],
            "what was paid was not the price": [refunded, refunded | {"expired"}, refunded | {"cancelled"}],
            }[order["reason"]]


def fresh_ids(scene) -> set:
    """Under which late payments asked for a unit; nobody outside knows them."""
    with sqlite3.connect(f"file:{scene.server.data}/ledger.db?mode=ro", uri=True) as ledger:
        return {row[0] for row in ledger.execute("SELECT purchase FROM ledger WHERE replaces IS NOT NULL")}


def events_agree(scene) -> None:
    """The outbox tells each thing that happened once, and nothing that did not."""
    told, of_order, of_sale = collections.Counter(), collections.defaultdict(list), collections.defaultdict(list)
    for event in scene.rows("SELECT * FROM events ORDER BY number"):
        if event["kind"] == "purchase.cancelled":
            told["purchase", event["purchase"]] += 1
        elif event["kind"] == "payment.refunded":
            told["payment", event["payment"]] += 1
        elif event["order_id"] is not None:
            of_order[event["order_id"]].append(event["kind"].removeprefix("order."))
        else:
            of_sale[event["sale"]].append(event["kind"].removeprefix("sale."))
    orders = {order["id"]: order for order in scene.rows("SELECT * FROM orders")}
    assert of_order.keys() == orders.keys(), "an order without events, or events without an order"
    for number, kinds in of_order.items():
        assert any(sorted(kinds) == sorted(story) for story in stories_of(orders[number])), (dict(orders[number]), kinds)
        assert kinds[0] == "created", kinds
    surplus = {("payment", payment["id"]) for payment in scene.rows("SELECT * FROM payments WHERE state = 'refunded'")
               if (orders[payment["order_id"]]["state"], orders[payment["order_id"]]["payment"]) != ("refunded", payment["id"])}
    fresh = fresh_ids(scene)
    never = {("purchase", row["id"]) for row in scene.rows("SELECT id FROM purchases WHERE order_id IS NULL")
             if row["id"] not in fresh}
    assert dict(told) == dict.fromkeys(surplus | never, 1)
    for kinds in of_sale.values():
        assert kinds == ["opened"] + [("sold_out", "available")[turn % 2] for turn in range(len(kinds) - 1)], kinds


def shop_heard_all(scene) -> None:
    """At least once each, and nothing that is not in the outbox."""
    deadline = time.monotonic() + SETTLED_S_MAX
    left = ("SELECT (SELECT count(*) FROM events WHERE number > (SELECT position FROM notifier)) + "
            "(SELECT count(*) FROM deliveries WHERE state != 'delivered')")
    while scene.rows(left)[0][0]:
        assert time.monotonic() < deadline, f"{scene.rows(left)[0][0]} events never reached the shop"
        time.sleep(0.1)
    heard = {(one.id, one.json["type"]) for one in scene.receiver.received}
    assert heard == {(f"evt_{row['number']}", row["kind"]) for row in scene.rows("SELECT number, kind FROM events")}


def test_with_every_fault_and_a_server_that_dies_money_and_goods_agree(scene, request, seed, tmp_path):
    orders, kills = request.config.getoption("--money-orders"), request.config.getoption("--money-kills")
    print(f"\nmoney: seed {seed}")
    here = scene(EVERY_FAULT, seed)
    # Fewer units than buyers: some late payments find one, and some do not.
    sales = here.open_sales(units=max(1, orders // 5), payment_window_s=5)
    rush(here, sales, orders, kills, seed)
    here.provider.set_faults([])
    here.wait_until_settled()
    counts = judge(here)
    events_agree(here)
    shop_heard_all(here)
    audit(here, sales, tmp_path)
    print(f"money: {json.dumps(dict(sorted(counts.items())))}, {kills} kills")
    for state in FINAL:
        assert counts[state] > 0, f"no order ended as {state}: the round proves nothing about it"
    assert counts["refunds"] > 0


def test_without_faults_every_order_that_was_paid_is_paid(scene, seed, tmp_path):
    here = scene([], seed)
    sales = here.open_sales(units=100, payment_window_s=900)  # nobody is too late, however busy the machine is

    def one(number: int):
        Buyer(f"buyer-{number}", here.address, here.provider, here.told, random.Random(number)).shop_at(
            sales[number % len(sales)], manner="pay")
    with ThreadPoolExecutor(PLACES) as places:
        for job in [places.submit(one, number) for number in range(150)]:
            job.result()
    here.wait_until_settled()
    counts = judge(here)
    paid = {str(row["id"]) for row in here.rows("SELECT id FROM orders WHERE state = 'paid'")}
    assert len(here.told.pressed_pay) == 150 and here.told.pressed_pay == paid
    assert counts == {"paid": 150, "refunds": 0}
    events_agree(here)
    shop_heard_all(here)
    audit(here, sales, tmp_path)

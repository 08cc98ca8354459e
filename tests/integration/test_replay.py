"""A sale played once more from its ledger: the same comes out, or it is said what does not."""
import sqlite3
import threading

import pytest

from lib.cli import Cli
from lib.server import Server
from lib.shop import Shop, buy, eventually, instant, item_terms, ordered
from lib.skewed import SkewedClock


def replay(shop, sale: str) -> dict:
    answer = shop.admin.post(f"/v1/sales/{sale}/replay")
    assert answer.status == 200, answer.body
    return answer.json


@pytest.mark.parametrize("policy", ["reserve", "at_order", "at_payment"])
def test_a_rush_with_cancellations_and_a_restock_comes_out_the_same(shop, policy):
    sale = shop.open_sale(stock_policy=policy, items=[item_terms(units_total=20), item_terms("case", units_total=5)])
    stop = threading.Event()

    def visitor(number: int) -> None:
        for turn in range(10):
            if stop.is_set():
                return
            buyer = shop.buyer(f"{policy}-{number}-{turn}")
            answer = buy(buyer, sale, item="case" if turn % 3 == 0 else "phone")
            if answer.status == 202 and turn % 2 == 0:
                order = ordered(buyer, answer.json["id"])["order"]["id"]
                assert buyer.post(f"/v1/orders/{order}/cancel").status == 200

    visitors = [threading.Thread(target=visitor, args=(number,)) for number in range(6)]
    for one in visitors:
        one.start()
    assert shop.restock(sale, 3).status == 200
    live = replay(shop, sale)
    for one in visitors:
        one.join()
    assert live["agrees"], live["mismatches"]
    done = eventually("everything is ordered", lambda: (answer := replay(shop, sale))["in_flight"] == 0 and answer)
    assert done["agrees"], done["mismatches"]
    assert done["digest_replayed"] == done["digest_stored"]
    assert done["ledger_records"] >= 20 and done["moves"] >= 1
    assert replay(shop, sale) == done, "and again"
    assert shop.admin.post(f"/v1/sales/{sale}/reconcile").json["agrees"]


def test_a_restart_with_an_earlier_clock_is_no_difference(contract, tmp_path):
    clock = SkewedClock(tmp_path)
    clock.set(1800)
    with Server(tmp_path / "shop", **clock.settings()) as server:
        shop = Shop(server, contract).start()
        sale = shop.open_sale(closes_at=instant(20_000), items=[item_terms(units_total=1)])
        for restarts in (True, False):
            buyer = shop.buyer()
            order = ordered(buyer, buy(buyer, sale).json["id"])["order"]["id"]
            assert buyer.post(f"/v1/orders/{order}/cancel").status == 200
            if restarts:
                assert server.stop() == 0
                clock.set(0)
                shop.restart()
        done = replay(shop, sale)
        assert done["agrees"] and done["moves"] == 2, done["mismatches"]
        shop.close()


def test_a_changed_outcome_is_noticed_with_exit_four(own_shop, tmp_path):
    shop = own_shop.start()
    sale = shop.open_sale()
    alice = shop.buyer("alice")
    ordered(alice, buy(alice, sale).json["id"])

    def cli():
        return Cli(tmp_path, DOORBUSTER_ADMIN__KEY=shop.server.admin_key)(
            "replay", sale, "--admin", f"127.0.0.1:{shop.server.admin_port}")
    same = cli()
    assert same.returncode == 0 and "bit for bit" in same.stdout, same.stderr
    assert shop.server.stop() == 0
    database = sqlite3.connect(shop.server.data / "orders.db")
    database.execute("UPDATE orders SET state = 'expired', hold = 'finished'")
    database.execute("UPDATE items SET units_available = 10, units_held = 0")
    database.commit()
    database.close()
    shop.restart()
    changed = cli()
    assert changed.returncode == 4 and "alice" in changed.stdout, changed.stdout

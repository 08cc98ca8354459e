"""A record that cannot become an order: tried again, then put aside in plain sight."""
import sqlite3
import time

from lib.cli import operator_of
from lib.shop import buy, eventually, item_terms, ordered

POISON = bytes(range(16))


def test_a_poisoned_record_is_buried_and_those_behind_it_are_served(own_shop, tmp_path):
    shop = own_shop.start()
    sale = shop.open_sale()
    alice = shop.buyer("alice")
    before = buy(alice, sale).json["id"]
    ordered(alice, before)
    assert shop.server.stop() == 0

    ledger = sqlite3.connect(shop.server.data / "ledger.db")
    position = ledger.execute("SELECT max(position) FROM ledger").fetchone()[0] + 1
    ledger.execute("INSERT INTO ledger(position, sale, item, epoch, bucket, sequence, purchase, buyer, units, "
                   "accepted_at_ms) SELECT ?, sale, 'ghost', epoch, bucket, 1, ?, 'bob', 1, accepted_at_ms "
                   "FROM ledger WHERE position = ?", (position, POISON, position - 1))
    ledger.commit()
    ledger.close()

    began_ms = int(time.time() * 1000)
    shop.restart()
    honest = [shop.buyer() for _ in range(5)]
    behind = [buy(buyer, sale) for buyer in honest]
    assert [answer.status for answer in behind] == [202] * 5, "a poisoned record does not stop the selling"
    early = shop.admin.get("/v1/dead-letters").json
    assert early == {"dead_letters": []} or time.time() * 1000 - began_ms >= 6000, "it is tried again first"

    letters = eventually("it is buried", lambda: shop.admin.get("/v1/dead-letters").json["dead_letters"])
    assert [letter["position"] for letter in letters] == [position]
    assert letters[0]["reason"] and "ghost" in letters[0]["record"]
    for buyer, answer in zip(honest, behind):
        ordered(buyer, answer.json["id"])
    cancelled = shop.buyer("bob").get(f"/v1/purchases/{POISON.hex()}").json
    assert cancelled["status"] == "cancelled" and cancelled["reason"], "said so explicitly"
    figures = shop.admin.get(f"/v1/sales/{sale}/status").json["orders"]
    assert (figures["dead_letters_total"], figures["position"]) == (1, position + 5)
    assert shop.stock(sale)["units_held"] == 6
    assert shop.server.stop() == 0

    orders = sqlite3.connect(shop.server.data / "orders.db")
    buried_at_ms = orders.execute("SELECT buried_at_ms FROM dead_letters").fetchone()[0]
    orders.close()
    assert buried_at_ms - began_ms >= 6000, "three more tries, after 1, 2 and 3 seconds"

    shop.restart()
    assert shop.admin.get("/v1/dead-letters").json["dead_letters"] == letters, "and it stays in sight"
    assert ordered(shop.buyer("alice"), before)

    assert shop.admin.get(f"/v1/dead-letters/{position}").json == letters[0]
    assert shop.admin.get("/v1/dead-letters/1").code == "not_found"
    tried = shop.admin.post(f"/v1/dead-letters/{position}/retry")
    assert (tried.status, tried.code) == (409, "wrong_state") and tried.json["detail"], "there is no such item to sell"
    operator = operator_of(shop.server, tmp_path)
    assert operator.json("dead-letters", "show", str(position))["state"] == "open"
    assert operator("dead-letters", "drop", str(position)).returncode == 0
    assert shop.admin.post(f"/v1/dead-letters/{position}/drop").json["state"] == "dropped", "repeating is safe"
    assert shop.admin.post(f"/v1/dead-letters/{position}/retry").code == "wrong_state"
    assert "dropped" in operator("dead-letters", "list").stdout
    assert shop.admin.post("/v1/dead-letters/1/drop").code == "not_found"


def test_a_letter_whose_cause_was_mended_becomes_an_order(own_shop, tmp_path):
    shop = own_shop.start()
    sale = shop.open_sale(items=[item_terms(units_total=2)])
    assert shop.server.stop() == 0
    ledger = sqlite3.connect(shop.server.data / "ledger.db")
    ledger.execute("INSERT INTO ledger(position, sale, item, epoch, bucket, sequence, purchase, buyer, units, "
                   "accepted_at_ms) VALUES(1, ?, 'ghost', 0, 0, 1, ?, 'bob', 1, ?)",
                   (sale, POISON, int(time.time() * 1000)))
    ledger.commit()
    shop.restart()
    eventually("it is buried", lambda: shop.admin.get("/v1/dead-letters").json["dead_letters"])
    bob = shop.buyer("bob")
    assert bob.get(f"/v1/purchases/{POISON.hex()}").json["status"] == "cancelled"
    assert shop.server.stop() == 0

    # The cause: the record names an item that never was.
    ledger.execute("UPDATE ledger SET item = 'phone' WHERE position = 1")
    ledger.commit()
    ledger.close()
    orders = sqlite3.connect(shop.server.data / "orders.db")
    orders.execute("UPDATE purchases SET item = 'phone' WHERE position = 1")
    orders.commit()
    orders.close()
    shop.restart()
    operator = operator_of(shop.server, tmp_path)
    assert operator("dead-letters", "retry", "1").returncode == 0
    bob = shop.buyer("bob")
    order = ordered(bob, POISON.hex())["order"]["id"]
    assert bob.get(f"/v1/orders/{order}").json["state"] == "pending_payment"
    assert shop.stock(sale)["units_held"] == 1
    assert shop.admin.get("/v1/dead-letters/1").json["state"] == "retried"
    assert shop.admin.post("/v1/dead-letters/1/drop").code == "wrong_state"
    for command in ("reconcile", "replay"):
        done = operator(command, sale)
        assert done.returncode == 0, done.stdout + done.stderr


def test_many_letters_are_listed_a_hundred_at_a_time(own_shop, tmp_path):
    shop = own_shop.start()
    assert shop.server.stop() == 0
    orders = sqlite3.connect(shop.server.data / "orders.db")
    orders.executemany("INSERT INTO dead_letters(position, reason, record, buried_at_ms, state) "
                       "VALUES(?, 'unknown item', ?, 0, 'dropped')",
                       [(position, f"letter-{position}.") for position in range(1, 121)])
    orders.commit()
    orders.close()
    shop.restart()
    operator = operator_of(shop.server, tmp_path)
    first = operator("dead-letters", "list").stdout
    assert "letter-100." in first and "letter-101." not in first
    assert "dead-letters list --after 100" in first, "and how to see the others"
    rest = operator("dead-letters", "list", "--after", "100").stdout
    assert "letter-100." not in rest and "letter-101." in rest and "letter-120." in rest
    assert "--after" not in rest
    wrong = operator("dead-letters", "list", "--after", "soon")
    assert wrong.returncode == 2 and "--after" in wrong.stderr

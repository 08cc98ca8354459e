"""One wrong stock row: its own orders wait for the operator, and nobody else's do."""
import sqlite3

from lib.shop import buy, eventually, ordered


def test_a_wrong_stock_row_stops_neither_the_server_nor_the_expiry_of_others(own_shop):
    shop = own_shop.start()
    # The first must not expire before it is spoilt.
    spoilt, sound = shop.open_sale(payment_window_s=20), shop.open_sale(payment_window_s=5)
    alice, bob = shop.buyer("alice"), shop.buyer("bob")
    stuck = ordered(alice, buy(alice, spoilt).json["id"])["order"]["id"]
    with sqlite3.connect(shop.server.data / "orders.db", timeout=30) as database:
        database.execute("UPDATE items SET units_available = units_available + units_held, units_held = 0 WHERE sale = ?",
                         (spoilt,))
    other = ordered(bob, buy(bob, sound).json["id"])["order"]["id"]
    eventually("the sound order expires", lambda: bob.get(f"/v1/orders/{other}").json["state"] == "expired")
    eventually("the damage is told", lambda: "reconcile --repair" in shop.server.said())
    assert alice.get(f"/v1/orders/{stuck}").json["state"] == "pending_payment"
    refused = alice.post(f"/v1/orders/{stuck}/cancel")
    assert (refused.status, refused.code) == (500, "internal"), refused.body
    assert shop.server.running(), shop.server.said()

    repaired = shop.admin.post(f"/v1/sales/{spoilt}/reconcile", {"repair": True})
    assert repaired.status == 200, repaired.body
    assert alice.post(f"/v1/orders/{stuck}/cancel").status == 200
    shop.stock_becomes(spoilt, units_available=10)

"""From the order to the money and back: through the sandbox provider, over HTTP and the command line."""
import http.client
import urllib.parse

import pytest

from lib.cli import operator_of
from lib.sandbox import Sandbox, free_port
from lib.server import Server
from lib.shop import Shop, buy, eventually, item_terms, ordered


@pytest.fixture(scope="module")
def paid(contract, tmp_path_factory):
    """A shop and its provider."""
    folder, port = tmp_path_factory.mktemp("paid"), free_port()
    with Sandbox(folder, f"http://127.0.0.1:{port}/v1/payments/webhook") as provider:
        provider.start()
        with Server(folder / "shop", DOORBUSTER_SERVER__LISTEN=f"127.0.0.1:{port}",
                    DOORBUSTER_PAYMENTS__LOOK_MS_MIN="200", DOORBUSTER_PAYMENTS__LOOK_MS_MAX="1000",
                    **provider.settings()) as server:
            shop = Shop(server, contract).start()
            yield shop, provider
            shop.close()
            assert server.stop() == 0, server.said()
        assert provider.stop() == 0, provider.said


def order_of(shop, sale, buyer):
    return ordered(buyer, buy(buyer, sale, key="k").json["id"])["order"]["id"]


def becomes(buyer, order, *states):
    """The order, once it is so; what is busy is asked again."""
    def probe():
        answer = buyer.get(f"/v1/orders/{order}")
        if answer.status == 503:
            return None
        assert answer.status == 200, answer.body
        return answer.json if answer.json["state"] in states else None
    return eventually(f"the order is {states}", probe)


def press(url: str, button: str) -> bytes:
    """What a browser does with a button of the pay page."""
    parts = urllib.parse.urlsplit(url)
    page = http.client.HTTPConnection(parts.netloc, timeout=30)
    page.request("GET", parts.path)
    seen = page.getresponse()
    assert seen.status == 200 and button.encode() in seen.read()
    page.request("POST", f"{parts.path}/{button}", headers={"Content-Length": "0"})
    seen = page.getresponse()
    said = seen.read()
    page.close()
    assert seen.status in (200, 303), said
    return said


@pytest.mark.parametrize("policy", ["reserve", "at_order", "at_payment"])
def test_an_order_is_paid_on_the_page_and_refunded_by_the_shop(paid, tmp_path, policy):
    shop, provider = paid
    sale, alice = shop.open_sale(stock_policy=policy), shop.buyer()
    order = order_of(shop, sale, alice)
    begun = alice.post(f"/v1/orders/{order}/payments")
    assert begun.status == 200 and begun.json["payment_url"].startswith(f"http://127.0.0.1:{provider.port}/pay/")
    again = alice.post(f"/v1/orders/{order}/payments", headers={"Accept-Language": "zh-TW"}).json
    assert again["id"] == begun.json["id"], "once, however often"
    assert begun.json["payment_url"].endswith("?lang=en") and again["payment_url"].endswith("?lang=zh-Hant")
    press(begun.json["payment_url"], "capture")
    assert becomes(alice, order, "paid")["reason"] is None
    shop.stock_becomes(sale, units_sold=1)
    assert alice.post(f"/v1/orders/{order}/cancel").code == "wrong_state", "a paid order is the shop's to refund"

    operator = operator_of(shop.server, tmp_path)
    assert operator("order", "refund", order, "--reason", "damaged").returncode == 0
    assert becomes(alice, order, "refunded")["reason"] == "damaged"
    again = shop.admin.post(f"/v1/orders/{order}/refund", {"units_return": True})
    assert again.status == 200 and again.json["state"] == "refunded", "repeating changes nothing"
    shop.stock_becomes(sale, units_available=10)
    shown = operator("order", "show", order)
    assert shown.returncode == 0 and "refunded" in shown.stdout
    for command in ("reconcile", "replay"):
        done = operator(command, sale)
        assert done.returncode == 0, done.stdout + done.stderr


def test_units_that_a_refund_keeps_stay_sold(paid):
    shop, provider = paid
    sale, alice = shop.open_sale(), shop.buyer()
    order = order_of(shop, sale, alice)
    provider.act(alice.post(f"/v1/orders/{order}/payments").json["id"], "capture")
    becomes(alice, order, "paid")
    assert shop.admin.post(f"/v1/orders/{order}/refund", {"units_return": False}).status == 200
    becomes(alice, order, "refunded")
    shop.stock_becomes(sale, units_sold=1)
    assert buy(alice, sale, key="another").code == "limit_reached", "it still has its unit"


def test_a_declined_payment_can_be_tried_again(paid):
    shop, provider = paid
    sale, alice = shop.open_sale(), shop.buyer()
    order = order_of(shop, sale, alice)
    first = alice.post(f"/v1/orders/{order}/payments").json
    press(first["payment_url"], "decline")
    becomes(alice, order, "pending_payment")
    second = alice.post(f"/v1/orders/{order}/payments").json
    assert second["id"] != first["id"]
    press(second["payment_url"], "capture")
    becomes(alice, order, "paid")
    # The old page still takes money; what it took is given back.
    provider.act(first["id"], "capture")
    states = eventually("the second capture is refunded", lambda: (
        found := {payment["key"]: payment["state"] for payment in provider.payments()
                  if payment["reference"] == order}) and found[first["id"]] in ("refunded", "voided") and found)
    assert states[second["id"]] == "captured" and becomes(alice, order, "paid")


def test_an_unpaid_order_expires_and_its_unit_is_sold_again(paid):
    shop, provider = paid
    sale = shop.open_sale(payment_window_s=20, items=[item_terms(units_total=1)])
    alice, bob = shop.buyer(), shop.buyer()
    order = order_of(shop, sale, alice)
    payment = alice.post(f"/v1/orders/{order}/payments").json["id"]
    assert buy(bob, sale, key="k").code == "sold_out"
    assert becomes(alice, order, "expired")["reason"] == "it was not paid in time"
    assert alice.post(f"/v1/orders/{order}/payments").code == "wrong_state"
    assert provider.act(payment, "capture").status == 409, "the provider has voided it"
    eventually("bob can have the unit", lambda: buy(bob, sale, key="k").status == 202)
    assert buy(alice, sale, key="k").json["status"] == "cancelled", "a repeat finds its own purchase, also when it is over"


def test_a_cancelled_order_gives_its_unit_back_when_the_provider_has_agreed(paid):
    shop, provider = paid
    sale, alice = shop.open_sale(items=[item_terms(units_total=1)]), shop.buyer()
    order = order_of(shop, sale, alice)
    alice.post(f"/v1/orders/{order}/payments")
    cancelled = alice.post(f"/v1/orders/{order}/cancel")
    assert cancelled.status == 200 and cancelled.json["state"] in ("voiding", "cancelled")
    becomes(alice, order, "cancelled")
    eventually("the unit is back", lambda: shop.stock(sale)["units_available"] == 1)


def test_as_many_open_orders_as_the_item_says_where_payment_takes_the_unit(paid):
    shop, provider = paid
    sale = shop.open_sale(stock_policy="at_payment", items=[item_terms(units_total=1, orders_max=2)])
    alice, bob, carol = shop.buyer(), shop.buyer(), shop.buyer()
    orders = [order_of(shop, sale, buyer) for buyer in (alice, bob)]
    assert buy(carol, sale, key="k").code == "sold_out_for_now"
    for buyer, order in ((alice, orders[0]), (bob, orders[1])):
        provider.act(buyer.post(f"/v1/orders/{order}/payments").json["id"], "capture")
    ends = {becomes(alice, orders[0], "paid", "refunded")["state"], becomes(bob, orders[1], "paid", "refunded")["state"]}
    assert ends == {"paid", "refunded"}, "one unit, two payers: one is refunded at once"
    eventually("everybody hears it", lambda: buy(carol, sale, key="k").code == "sold_out")


def test_without_a_provider_nothing_can_be_paid_and_it_is_said(shop):
    sale, alice = shop.open_sale(), shop.buyer()
    order = order_of(shop, sale, alice)
    answer = alice.post(f"/v1/orders/{order}/payments")
    assert (answer.status, answer.code) == (409, "wrong_state") and "provider" in answer.json["detail"]
    assert shop.anyone.post("/v1/payments/webhook", {}).status == 404


@pytest.mark.parametrize("body, pointer", [({"units_return": "yes"}, "/units_return"), ({"reason": ""}, "/reason"),
                                           ({"amount": 1}, "/amount"), ([], "")])
def test_a_refund_that_cannot_be_read(shop, body, pointer):
    answer = shop.admin.post("/v1/orders/1/refund", body)
    assert (answer.status, answer.pointers) == (422, {pointer})


def test_a_refund_of_what_is_not_there_or_not_paid(shop):
    assert shop.admin.post("/v1/orders/1/refund").code == "not_found"
    sale, alice = shop.open_sale(), shop.buyer()
    order = order_of(shop, sale, alice)
    assert shop.admin.post(f"/v1/orders/{order}/refund").code == "wrong_state"
    assert shop.admin.get(f"/v1/orders/{order}").json["buyer"] == alice.name
    assert shop.admin.get("/v1/orders/1").code == "not_found"

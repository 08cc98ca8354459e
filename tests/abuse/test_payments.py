"""Who would rather not pay, or be paid twice: forged, old, repeated and misdirected events; wrong amounts."""
import json
import time

import pytest

from lib.ports import free_port
from lib.sandbox import WEBHOOKS, provider_for
from lib.shop import buy, eventually, ordered
from lib.signing import sign, webhook_secret


@pytest.fixture(scope="module")
def port():
    return free_port()


@pytest.fixture(scope="module")
def provider(tmp_path_factory, port):
    with provider_for(tmp_path_factory.mktemp("provider"), port) as provider:
        yield provider


@pytest.fixture(scope="module")
def settings(provider, port):
    # Nothing is asked of the provider by the clock: what these tests see comes from events.
    return {"DOORBUSTER_SERVER__LISTEN": f"127.0.0.1:{port}", "DOORBUSTER_PAYMENTS__LOOK_MS_MIN": "3600000",
            "DOORBUSTER_PAYMENTS__LOOK_MS_MAX": "3600000", **provider.settings()}


def paying(shop, scene):
    """A buyer with an order that waits for its payment, which the provider knows."""
    buyer, sale = shop.buyer(), scene.sale()
    purchase = scene.bought(sale, buy(buyer, sale, key="k"))
    order = ordered(buyer, purchase)["order"]["id"]
    begun = buyer.post(f"/v1/orders/{order}/payments")
    assert begun.status == 200, begun.body
    return buyer, order, begun.json["id"]


def event(payment: str, order: str, state: str = "captured", **more) -> bytes:
    data = {"key": payment, "reference": order, "state": state, "amount_minor": 999900, "currency": "TWD",
            "captured_minor": 999900, "captured_currency": "TWD", **more}
    return json.dumps({"type": f"payment.{state}", "timestamp": "2026-12-01T12:00:00Z", "data": data}).encode()


def state_of(buyer, order: str) -> str:
    return buyer.get(f"/v1/orders/{order}").json["state"]


def pay(provider, buyer, order: str, payment: str) -> None:
    assert provider.act(payment, "capture").status == 200
    eventually("the order is paid", lambda: state_of(buyer, order) == "paid")


def test_40_a_forged_event(shop, scene, provider):
    buyer, order, payment = paying(shop, scene)
    body = event(payment, order)
    honest = sign(provider.secret, body)
    forgeries = [sign(webhook_secret(), body), {**honest, "webhook-signature": "v1,"}, {}, {"webhook-id": "a"},
                 {**honest, "webhook-id": "another"}, {**honest, "webhook-signature": honest["webhook-signature"][:-4] + "AAA="},
                 {**honest, "webhook-timestamp": str(int(honest["webhook-timestamp"]) + 1)},
                 {**honest, "webhook-signature": "v1," + "A" * 4000}]
    for headers in forgeries:
        answer = shop.anyone.post(WEBHOOKS, body, headers=headers)
        assert (answer.status, answer.code) == (401, "unauthenticated"), headers
    assert shop.anyone.post(WEBHOOKS, body + b" ", headers=honest).status == 401, "the raw bytes are signed"
    # The right signature under a lie: the provider is asked, and it knows of no capture.
    assert shop.anyone.post(WEBHOOKS, body, headers=honest).status == 200
    assert state_of(buyer, order) == "paying"
    pay(provider, buyer, order, payment)


def test_41_a_replayed_or_old_event(shop, scene, provider):
    buyer, order, payment = paying(shop, scene)
    body = event(payment, order)
    old = sign(provider.secret, body, at=int(time.time()) - 301)
    assert shop.anyone.post(WEBHOOKS, body, headers=old).status == 401
    early = sign(provider.secret, body, at=int(time.time()) + 3600)
    assert shop.anyone.post(WEBHOOKS, body, headers=early).status == 401
    pay(provider, buyer, order, payment)
    fresh = sign(provider.secret, body)
    heard = [shop.anyone.post(WEBHOOKS, body, headers=fresh) for _ in range(3)]
    assert [answer.status for answer in heard] == [200, 200, 200]
    assert [answer.json["new"] for answer in heard] == [True, False, False]
    whole = shop.admin.get(f"/v1/orders/{order}").json
    assert whole["state"] == "paid" and [one["state"] for one in whole["payments"]] == ["captured"]


def test_42_duplicate_and_reordered_events(shop, scene, provider):
    buyer, order, payment = paying(shop, scene)
    assert provider.act(payment, "capture").status == 200
    # What happened first arrives last, and more than once: the provider's own state decides.
    for state in ("captured", "created", "declined", "created", "voided"):
        body = event(payment, order, state)
        for _ in range(2):
            assert shop.anyone.post(WEBHOOKS, body, headers=sign(provider.secret, body)).status == 200
    eventually("the order is paid", lambda: state_of(buyer, order) == "paid")
    body = event(payment, order, "declined")
    assert shop.anyone.post(WEBHOOKS, body, headers=sign(provider.secret, body)).status == 200
    later, another, attempt = paying(shop, scene)
    pay(provider, later, another, attempt)  # whoever comes behind it is served, and the first is still paid
    assert state_of(buyer, order) == "paid"


@pytest.mark.parametrize("fault", ["underpaid", "wrong_currency"])
def test_43_too_little_or_the_wrong_money(shop, scene, provider, fault):
    provider.set_faults([fault])
    try:
        for _ in range(60):  # one in five captures is wrong
            buyer, order, payment = paying(shop, scene)
            assert provider.act(payment, "capture").status == 200
            ended = eventually("the order has ended", lambda: state_of(buyer, order) in ("paid", "refunded") and
                               state_of(buyer, order))
            if ended == "refunded":
                break
        else:
            pytest.fail("no capture was wrong: the fault switch does nothing")
    finally:
        provider.set_faults([])
    assert provider.state(payment) == "refunded"
    scene.released(buyer.get(f"/v1/orders/{order}").json)
    buyer, order, payment = paying(shop, scene)
    pay(provider, buyer, order, payment)


def test_44_an_event_for_another_order(shop, scene, provider):
    victim, order, payment = paying(shop, scene)
    mallory, own, own_payment = paying(shop, scene)
    for body in (event(payment, own), event(own_payment, order), event("4711", order), event(payment, "x"),
                 event("../../etc", own), b"{}", b"[]", b'{"data":{"key":7,"reference":8}}'):
        answer = shop.anyone.post(WEBHOOKS, body, headers=sign(provider.secret, body))
        assert (answer.status, answer.code) == (422, "invalid"), body
    pay(provider, mallory, own, own_payment)
    assert state_of(victim, order) == "paying"
    pay(provider, victim, order, payment)


def test_another_buyers_order_cannot_be_paid_or_cancelled(shop, scene, provider):
    victim, order, payment = paying(shop, scene)
    mallory = shop.buyer()
    for call in ("payments", "cancel"):
        answer = mallory.post(f"/v1/orders/{order}/{call}")
        assert (answer.status, answer.code) == (404, "not_found")
    pay(provider, victim, order, payment)


def test_one_attempt_however_often_and_however_many_at_once_it_is_begun(shop, scene, provider):
    buyer, order, payment = paying(shop, scene)
    for _ in range(5):
        assert buyer.post(f"/v1/orders/{order}/payments").json["id"] == payment
    assert len(shop.server.rows(f"SELECT id FROM payments WHERE order_id = {int(order)}")) == 1
    pay(provider, buyer, order, payment)
    answer = buyer.post(f"/v1/orders/{order}/payments")
    assert (answer.status, answer.code) == (409, "wrong_state")

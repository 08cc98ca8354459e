"""Buyers who ask for what is not theirs to ask: absurd amounts, prices, other people's orders, the operator's verbs."""
import json

from lib.shop import buy, instant, item_terms, ordered
from scene import Scene

QUANTITIES = ["0", "-1", "-1000", "9223372036854775807", "9223372036854775808", "18446744073709551617", "1.5", "1.0",
              '"1"', "NaN", "Infinity", "1e3", "1e0", "1e400", "null", "true", "[1]", '{"a":1}']


def test_28_absurd_quantities(shop, scene):
    sale, mallory = scene.sale(items=[item_terms(units_per_buyer_max=2)]), shop.buyer()
    for quantity in QUANTITIES:
        body = f'{{"item":"phone","quantity":{quantity}}}'.encode()
        answer = mallory.post(f"/v1/sales/{sale}/purchases", body)
        assert (answer.status, answer.code, answer.pointers) == (422, "invalid", {"/quantity"}), quantity
    scene.bought(sale, buy(mallory, sale, quantity=2), quantity=2)


def test_29_a_price_of_the_buyers_own(shop, scene):
    sale, mallory = scene.sale(), shop.buyer()
    for field, value in (("price", 1), ("price_minor", 1), ("currency", "XXX"), ("status", "paid"),
                         ("buyer", "somebody-else"), ("sequence", 1), ("sold", False), ("Quantity", 1)):
        answer = mallory.post(f"/v1/sales/{sale}/purchases", {"item": "phone", "quantity": 1, field: value})
        assert (answer.status, answer.pointers) == (422, {f"/{field}"}), field
    purchase = scene.honest(sale, mallory)
    order = mallory.get(f"/v1/orders/{ordered(mallory, purchase)['order']['id']}").json
    assert (order["amount_minor"], order["currency"]) == (item_terms()["price_minor"], item_terms()["currency"])


def test_30_before_the_start_by_the_clients_clock(shop, scene):
    later = scene.sale("ready", opens_at=instant(3600), closes_at=instant(7200))
    mallory = shop.buyer()
    for headers in ({}, {"Date": "Fri, 01 Jan 2100 00:00:00 GMT"}, {"X-Client-Time": "2100-01-01T00:00:00Z"},
                    {"Idempotency-Key": "early"}):
        answer = mallory.post(f"/v1/sales/{later}/purchases", {"item": "phone"}, headers=headers)
        assert (answer.status, answer.code) == (409, "not_open"), headers
    scene.honest(scene.sale(), mallory)


def test_32_anothers_order_or_purchase(shop, scene):
    sale, alice, mallory = scene.sale(), shop.buyer(), shop.buyer()
    purchase = scene.honest(sale, alice)
    order = ordered(alice, purchase)["order"]["id"]
    for method, path in (("GET", f"/v1/purchases/{purchase}"), ("GET", f"/v1/orders/{order}"),
                         ("POST", f"/v1/orders/{order}/cancel")):
        assert mallory.request(method, path).code == "not_found", path
        assert shop.public_with(None).request(method, path).code == "unauthenticated", path
    assert mallory.get("/v1/orders").json["orders"] == []
    assert [entry["id"] for entry in alice.get("/v1/orders").json["orders"]] == [order]
    assert alice.get(f"/v1/orders/{order}").json["state"] == "pending_payment"


def test_33_the_operators_verbs_in_a_buyers_hands(shop, scene):
    sale = scene.sale()
    verbs = [f"/v1/sales/{sale}/{verb}" for verb in ("warm", "open", "pause", "resume", "close", "restock", "reconcile")]
    keyed = shop.public_with(shop.server.admin_key)
    for public in (shop.buyer(), keyed, shop.public_with(None)):
        for path in (*verbs, "/v1/sales", "/v1/reload"):
            assert public.post(path, {}).status == 404, path
        for path in (f"/v1/sales/{sale}/status", "/metrics", "/livez", "/readyz", "/v1/dead-letters", "/v1/level",
                     "/v1/lists"):
            assert public.get(path).status == 404, path
        assert public.patch(f"/v1/sales/{sale}", {"title": "Mine"}).status == 404
        assert public.put("/v1/level", {"level": "closed"}).status == 404
    for key in (None, "", "x", shop.server.admin_key[:-1], shop.server.admin_key + "0", shop.server.admin_key.upper(),
                shop.buyer().bearer):
        stranger = shop.admin_with(key)
        for path in verbs:
            assert stranger.post(path).code == "unauthenticated", (key, path)
        assert stranger.get(f"/v1/sales/{sale}/status").code == "unauthenticated", key
    assert shop.admin.get(f"/v1/sales/{sale}").json["state"] == "open"
    scene.honest(sale)


def test_34_hoarding_by_cancelling_and_buying_again(serving):
    # Two strikes for each hold that was given up: the third slows, the fifth bars.
    with serving(DOORBUSTER_RISK__STRIKES_SLOW="6", DOORBUSTER_RISK__STRIKES_BAR="10",
                 DOORBUSTER_RISK__STRIKES_FORGET_S="3600", DOORBUSTER_RISK__SLOW_EVERY_S="3600") as shop:
        scene, mallory, heard = Scene(shop), shop.buyer(), []
        sale = scene.sale(items=[item_terms(units_total=1)])
        for turn in range(8):
            answer = buy(mallory, sale, key=f"turn-{turn}")
            shop.strikes_are_known()
            heard.append(answer.code or answer.status)
            if answer.status != 202:
                continue
            order = ordered(mallory, scene.bought(sale, answer))["order"]
            for _ in range(2):  # a repeated cancellation is no second strike
                assert mallory.post(f"/v1/orders/{order['id']}/cancel").status == 200
            scene.released(order)
            shop.units_are_back(sale, units_available=1)
            shop.strikes_are_known()
        assert heard == [202] * 4 + ["rate_limited"] * 4, heard
        scene.honest(sale)  # the unit is back, and somebody else has it
        scene.audit()


def test_35_one_key_for_two_wishes(shop, scene):
    sale, mallory = scene.sale(items=[item_terms(units_per_buyer_max=3)]), shop.buyer()
    first = scene.bought(sale, buy(mallory, sale, key="k", quantity=1))
    for quantity in (2, 3):
        answer = buy(mallory, sale, key="k", quantity=quantity)
        assert (answer.status, answer.pointers) == (422, {"/quantity"})
    assert scene.bought(sale, buy(mallory, sale, key="k", quantity=1)) == first, "the same wish is the same purchase"
    scene.bought(sale, buy(shop.buyer(), sale, key="k", quantity=2), quantity=2)  # another buyer's key is another key


def nested(depth: int) -> bytes:
    return b'{"item":' + b"[" * depth + b"]" * depth + b"}"


def test_48_depth_bombs_and_names_that_stand_twice(shop, scene):
    sale, mallory = scene.sale(), shop.buyer()
    for body in (nested(33), nested(200), nested(7_000), b"[" * 16_000, b'{"a":' * 2_000 + b"1" + b"}" * 2_000,
                 b'{"item":"phone","item":"phone"}', b'{"item":"phone","quantity":1,"quantity":2}',
                 b'{"item":"phone","\\u0069tem":"phone"}', b'{"item":"phone","x":1,"x":2}',
                 b'{"item":"phone","a":{"b":1,"b":2}}', b'{"item":"phone"} {}', b'{"item":"\xff"}', b"{", b""):
        answer = mallory.post(f"/v1/sales/{sale}/purchases", body)
        assert (answer.status, answer.code) == (400, "malformed"), body[:80]
    answer = mallory.post(f"/v1/sales/{sale}/tokens", b'{"item":"phone","zz":1,"zz":2}')
    assert (answer.status, answer.code) == (400, "malformed")
    many = json.dumps({"item": "phone", **{f"field-{number}": 1 for number in range(900)}}).encode()
    answer = mallory.post(f"/v1/sales/{sale}/purchases", many)
    assert answer.status == 422 and len(answer.body) < 4096, "what is said of a body is not longer than the body"
    terms = json.dumps({"id": "twice", "title": "x"})[:-1] + ',"title":"y"}'
    for body in (terms.encode(), b"[" * 100_000, nested(5_000)):
        assert shop.admin.post("/v1/sales", body).code == "malformed", body[:80]
    scene.honest(sale, mallory)

"""Every refusal that a buyer can meet, and that it costs nobody a unit."""
import time

import pytest

from lib import jwt
from lib.client import RawConnection
from lib.shop import buy, eventually, instant, item_terms, ordered

OTHER_SECRET = "another-secret-that-is-long-enough-0000"


def purchase_request(sale: str, token: str, body: bytes, *more: str) -> bytes:
    lines = [f"POST /v1/sales/{sale}/purchases HTTP/1.1", "Host: localhost", f"Authorization: Bearer {token}",
             "Content-Type: application/json", f"Content-Length: {len(body)}", *more]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


@pytest.mark.parametrize("fault", ["missing", "garbage", "other secret", "expired", "not yet", "no expiry",
                                   "no buyer", "alg none", "alg HS512", "no signature"])
def test_a_token_that_proves_nothing_is_401(shop, fault):
    sale = shop.open_sale()
    secret, now = shop.server.hmac_secret, int(time.time())
    honest = jwt.mint(secret, "mallory")
    token = {
        "missing": lambda: None,
        "garbage": lambda: "x.y.z",
        "other secret": lambda: jwt.mint(OTHER_SECRET, "mallory"),
        "expired": lambda: jwt.mint(secret, "mallory", exp=now - 120),
        "not yet": lambda: jwt.mint(secret, "mallory", nbf=now + 120),
        "no expiry": lambda: jwt.mint(secret, "mallory", exp=None),
        "no buyer": lambda: jwt.mint(secret, None),
        "alg none": lambda: jwt.mint(secret, "mallory", header={"alg": "none"}).rsplit(".", 1)[0] + ".",
        "alg HS512": lambda: jwt.mint(secret, "mallory", header={"alg": "HS512", "typ": "JWT"}),
        "no signature": lambda: honest.rsplit(".", 1)[0] + ".",
    }[fault]()
    answer = buy(shop.public_with(token), sale)
    assert (answer.status, answer.code) == (401, "unauthenticated")
    assert "bearer" in answer.headers["www-authenticate"].lower()
    assert shop.public_with(token).get("/v1/orders").status == 401
    assert shop.stock(sale)["units_available"] == 10


def test_an_oversized_token_is_400_before_any_crypto(shop):
    sale = shop.open_sale()
    answer = buy(shop.public_with(jwt.mint(shop.server.hmac_secret, "mallory", padding="x" * 5000)), sale)
    assert (answer.status, answer.code) == (400, "malformed")


def test_a_sale_that_is_not_there_is_404(shop):
    buyer = shop.buyer()
    assert buy(buyer, "no-such-sale").code == "not_found"
    for path in ("/v1/sales/no-such-sale", "/v1/sales/no-such-sale/stock", "/v1/nothing", "/v1/sales/a/b/c"):
        assert buyer.get(path).code == "not_found", path


def test_an_item_that_is_not_there_is_404(shop):
    answer = buy(shop.buyer(), shop.open_sale(), "no-such-item")
    assert (answer.status, answer.code) == (404, "not_found")


def test_before_the_start_by_the_servers_clock(shop):
    sale = shop.create_sale(opens_at=instant(3600), closes_at=instant(7200))
    assert buy(shop.buyer(), sale).code == "not_open"
    shop.act(sale, "warm")
    assert buy(shop.buyer(), sale).code == "not_open"


def test_paused_and_resumed(shop):
    sale = shop.open_sale()
    winner = shop.buyer()
    won = buy(winner, sale, key="k").json["id"]
    shop.act(sale, "pause")
    assert buy(shop.buyer(), sale).code == "paused"
    assert buy(winner, sale, key="k").json["id"] == won
    shop.act(sale, "resume")
    assert buy(shop.buyer(), sale).status == 202


def test_sold_out_binds_nothing_and_a_winner_never_hears_it(shop):
    sale = shop.open_sale(items=[item_terms(units_total=1)])
    winner, loser = shop.buyer(), shop.buyer()
    won = buy(winner, sale, key="w").json
    refused = buy(loser, sale, key="l")
    assert (refused.status, refused.code) == (409, "sold_out")
    assert buy(winner, sale, key="w").json["id"] == won["id"]
    assert shop.anyone.get(f"/v1/sales/{sale}").json["state"] == "sold_out"
    order = ordered(winner, won["id"])["order"]["id"]
    assert winner.post(f"/v1/orders/{order}/cancel").status == 200
    eventually("the unit is back", lambda: shop.stock(sale)["units_available"] == 1)
    assert buy(loser, sale, key="l").status == 202, "the same key may win later"


def test_the_buyer_limit_names_the_purchase_and_comes_back(shop):
    sale = shop.open_sale(items=[item_terms(units_per_buyer_max=2)])
    alice = shop.buyer()
    first = buy(alice, sale, quantity=1).json
    too_many = buy(alice, sale, quantity=2)
    assert (too_many.code, too_many.json["purchase"]) == ("limit_reached", first["id"])
    assert buy(alice, sale, quantity=1).status == 202
    assert buy(alice, sale, quantity=1).code == "limit_reached"
    order = ordered(alice, first["id"])["order"]["id"]
    assert alice.post(f"/v1/orders/{order}/cancel").status == 200
    shop.units_are_back(sale, units_available=9)
    assert buy(alice, sale, quantity=1).status == 202


QUANTITIES = ["0", "-1", "-1000", "9223372036854775807", "9223372036854775808", "18446744073709551616", "1.5",
              "1.0", "1e3", "1e0", "1e400", '"1"', "NaN", "Infinity", "-Infinity", "null", "true", "[1]",
              '{"a":1}', "3", "1001"]


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_an_absurd_quantity_is_422_and_takes_nothing(shop, quantity):
    sale = shop.open_sale(items=[item_terms(units_per_buyer_max=2)])
    buyer = shop.buyer()
    answer = buyer.post(f"/v1/sales/{sale}/purchases", f'{{"item":"phone","quantity":{quantity}}}'.encode())
    assert (answer.status, answer.code, answer.pointers) == (422, "invalid", {"/quantity"})
    assert shop.stock(sale)["units_available"] == 10
    assert buy(buyer, sale, quantity=2).status == 202, "an honest purchase beside it is served"


@pytest.mark.parametrize("field", ["price", "price_minor", "currency", "status", "buyer", "sequence", "Item"])
def test_a_field_that_is_the_servers_to_say_is_422(shop, field):
    sale = shop.open_sale()
    answer = shop.buyer().post(f"/v1/sales/{sale}/purchases", {"item": "phone", "quantity": 1, field: "1"})
    assert (answer.status, answer.pointers) == (422, {f"/{field}"})
    assert shop.stock(sale)["units_available"] == 10


def test_a_token_where_no_human_check_is_asked_is_422(shop):
    answer = buy(shop.buyer(), shop.open_sale(), token="x")
    assert (answer.status, answer.pointers) == (422, {"/token"})


def test_a_missing_or_wrong_item_is_422(shop):
    sale, buyer = shop.open_sale(), shop.buyer()
    for body in ({}, {"quantity": 1}, {"item": 1}, {"item": ""}, {"item": "x" * 65}, {"item": None}):
        answer = buyer.post(f"/v1/sales/{sale}/purchases", body)
        assert (answer.status, answer.pointers) == (422, {"/item"}), body


def test_the_same_key_with_another_quantity_is_422(shop):
    sale = shop.open_sale(items=[item_terms(units_per_buyer_max=2)])
    alice = shop.buyer()
    assert buy(alice, sale, key="k", quantity=1).status == 202
    other = buy(alice, sale, key="k", quantity=2)
    assert (other.status, other.pointers) == (422, {"/quantity"})
    assert shop.stock(sale)["units_available"] == 9


@pytest.mark.parametrize("key", ["", "x" * 256, "with space", "tab\there", "gr\u00fcn"])
def test_an_unusable_key_is_422(shop, key):
    sale = shop.open_sale()
    answer = shop.buyer().post(f"/v1/sales/{sale}/purchases", {"item": "phone"}, headers={"Idempotency-Key": key})
    assert answer.status == 422 and "Idempotency-Key" in answer.body.decode()
    assert shop.stock(sale)["units_available"] == 10


@pytest.mark.parametrize("body", [b"", b"{", b"item=phone", b'{"item":"phone"}x', b'{"item":"phone","item":"phone"}',
                                  b'{"item":"phone","quantity":1,"quantity":2}', b'{"a":' * 200 + b"1" + b"}" * 200,
                                  b'{"item":"\xff"}'])
def test_a_body_that_is_not_json_is_400(shop, body):
    sale = shop.open_sale()
    answer = shop.buyer().post(f"/v1/sales/{sale}/purchases", body)
    assert (answer.status, answer.code) == (400, "malformed")
    assert shop.stock(sale)["units_available"] == 10


@pytest.mark.parametrize("body", [b"[]", b"1", b'"phone"', b"null"])
def test_json_that_is_no_object_is_refused(shop, body):
    assert shop.buyer().post(f"/v1/sales/{shop.open_sale()}/purchases", body).status in (400, 422)


def test_another_content_type_is_415_and_none_is_fine(shop):
    sale, buyer = shop.open_sale(), shop.buyer()
    for content_type in ("text/plain", "application/x-www-form-urlencoded", "application/jsonp"):
        answer = buyer.post(f"/v1/sales/{sale}/purchases", {"item": "phone"}, headers={"Content-Type": content_type})
        assert (answer.status, answer.code) == (415, "unsupported_media"), content_type
    assert buyer.post(f"/v1/sales/{sale}/purchases", {"item": "phone"}, headers={"Content-Type": None}).status == 202


def test_a_body_over_the_limit_is_413_before_it_is_read(shop):
    sale = shop.open_sale()
    token = jwt.mint(shop.server.hmac_secret, "mallory")
    with RawConnection(shop.server.public_port) as connection:
        head = purchase_request(sale, token, b"").replace(b"Content-Length: 0", b"Content-Length: 10000000")
        connection.send(head)
        answer = connection.receive()
        shop.contract.check("public", "POST", f"/v1/sales/{sale}/purchases", answer)
        assert (answer.status, answer.code) == (413, "body_too_large")
        assert connection.at_end()


def test_another_method_is_405_and_says_which_are_allowed(shop):
    sale = shop.open_sale()
    for method, path, allowed in (("DELETE", "/v1/time", "GET"), ("PUT", f"/v1/sales/{sale}/purchases", "POST"),
                                  ("GET", f"/v1/sales/{sale}/purchases", "POST"), ("POST", "/v1/orders", "GET")):
        answer = shop.buyer().request(method, path)
        assert (answer.status, answer.code) == (405, "method_not_allowed"), path
        assert allowed in answer.headers["allow"]
        assert (answer.headers["content-language"], answer.headers["cache-control"]) == ("en", "no-store")


def test_anothers_order_or_purchase_is_like_one_that_is_not_there(shop):
    sale = shop.open_sale()
    alice, mallory = shop.buyer(), shop.buyer()
    purchase = buy(alice, sale).json["id"]
    order = ordered(alice, purchase)["order"]["id"]
    missing_purchase, missing_order = "0" * 32, str(int(order) + 1)
    for method, theirs, missing in (("GET", f"/v1/purchases/{purchase}", f"/v1/purchases/{missing_purchase}"),
                                    ("GET", f"/v1/orders/{order}", f"/v1/orders/{missing_order}"),
                                    ("POST", f"/v1/orders/{order}/cancel", f"/v1/orders/{missing_order}/cancel")):
        hidden, absent = mallory.request(method, theirs), mallory.request(method, missing)
        assert (hidden.status, hidden.body) == (404, absent.body), theirs
        assert absent.status == 404
    assert mallory.get("/v1/orders").json == {"orders": [], "next": None}
    assert alice.get(f"/v1/orders/{order}").json["state"] == "pending_payment"
    for strange in ("x", "-1", "99999999999999999999", "%2e%2e", "0" * 33):
        assert mallory.get(f"/v1/orders/{strange}").status == 404, strange
        assert mallory.get(f"/v1/purchases/{strange}").status == 404, strange


@pytest.mark.parametrize("asked, language", [("zh-TW,en;q=0.5", "zh-Hant"), ("zh-CN", "zh-Hans"), ("fr", "en")])
def test_a_problem_speaks_the_buyers_language(shop, asked, language):
    answer = shop.buyer().get("/v1/sales/none", headers={"Accept-Language": asked})
    assert (answer.code, answer.headers["content-language"]) == ("not_found", language)

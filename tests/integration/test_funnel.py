"""From the check to the yes: human checks, purchase tokens, and what a sale asks, changed while it runs."""
from concurrent.futures import ThreadPoolExecutor

import pytest

from lib import checks, jwt
from lib.shop import buy, eventually, instant, item_terms, ordered


@pytest.fixture
def checked(shop) -> str:
    return shop.open_sale(human_check="pow", pow_number_max=1000)


def change(shop, sale: str, **terms) -> None:
    answer = shop.admin.patch(f"/v1/sales/{sale}", terms, headers={"If-Match": shop.version_of(sale)})
    assert answer.status == 200, answer.body


def test_a_check_becomes_a_token_and_the_token_a_purchase(shop, checked):
    buyer = shop.buyer()
    refused = buy(buyer, checked)
    assert (refused.status, refused.code) == (403, "token_required")
    token = checks.token_for(buyer, checked)
    first = buy(buyer, checked, token=token)
    assert first.status == 202, first.body
    again = buy(buyer, checked, token=token)
    assert (again.status, again.json) == (202, first.json), "the token names the purchase: a repeat finds it"
    assert shop.stock(checked)["units_held"] == 1
    second = buy(buyer, checked, token=checks.token_for(buyer, checked))
    assert (second.status, second.code, second.json["purchase"]) == (409, "limit_reached", first.json["id"])


def test_a_winner_who_repeats_hears_yes_whatever_became_of_the_sale(shop):
    sale = shop.open_sale(human_check="pow", pow_number_max=1000, items=[item_terms(units_total=1)])
    buyer, late = shop.buyer(), shop.buyer()
    token, late_token = checks.token_for(buyer, sale), checks.token_for(late, sale)
    first = buy(buyer, sale, token=token)
    assert first.status == 202, first.body
    eventually("the flag says sold out", lambda: buy(late, sale, token=late_token).code == "sold_out")
    assert buy(buyer, sale, token=token).json == first.json
    shop.act(sale, "close")
    assert buy(late, sale, token=late_token).code == "ended"
    assert buy(buyer, sale, token=token).json == first.json


def test_the_widget_asks_with_get_and_anybody_else_with_post(shop, checked):
    buyer = shop.buyer()
    asked = [buyer.get(f"/v1/sales/{checked}/challenges"), buyer.post(f"/v1/sales/{checked}/challenges"),
             buyer.post(f"/v1/sales/{checked}/challenges", {"kind": "pow"})]
    for answer in asked:
        assert (answer.status, answer.json["kind"], answer.json["algorithm"]) == (200, "pow", "SHA-256")
        assert answer.headers["cache-control"] == "no-store"
        assert answer.json["maxnumber"] >= 1000
    assert len({answer.json["id"] for answer in asked}) == 3
    challenge = asked[0].json
    solved = checks.answered(buyer, checked, checks.payload(challenge, checks.solve(challenge)),
                             challenge=challenge["id"])
    assert solved.status == 200 and solved.json["expires_at_ms"] > 0


@pytest.mark.parametrize("body, pointers", [
    ({"kind": "riddle"}, {"/kind"}), ({"kind": 1}, {"/kind"}), ({"kind": "image"}, {"/kind"}),
    ({"sort": "pow"}, {"/sort"}), ([], {""})])
def test_a_check_that_cannot_be_had(shop, checked, body, pointers):
    answer = shop.buyer().post(f"/v1/sales/{checked}/challenges", body)
    assert (answer.status, answer.pointers) == (422, pointers)


@pytest.mark.parametrize("body, pointers", [
    ({}, {"/item", "/answer"}), ({"item": 1, "answer": 2}, {"/item", "/answer"}),
    ({"item": "phone", "answer": "x", "challenge": 3}, {"/challenge"}),
    ({"item": "phone", "answer": "x", "token": "y"}, {"/token"}), ("phone", {""})])
def test_an_answer_that_is_none(shop, checked, body, pointers):
    answer = shop.buyer().post(f"/v1/sales/{checked}/tokens", body)
    assert (answer.status, answer.pointers) == (422, pointers)


def test_where_there_is_nothing_to_check(shop, checked):
    buyer, plain = shop.buyer(), shop.open_sale()
    for answer in (buyer.get(f"/v1/sales/{plain}/challenges"), checks.answered(buyer, plain, "x")):
        assert answer.status == 409, answer.body
    for path in ("/v1/sales/no-such-sale/challenges", "/v1/sales/no-such-sale/tokens"):
        assert buyer.post(path, {"item": "phone", "answer": "x"} if "tokens" in path else None).status == 404
    assert checks.answered(buyer, checked, "x", item="no-such-item").status == 404
    for path in (f"/v1/sales/{checked}/challenges", f"/v1/sales/{checked}/tokens"):
        assert shop.anyone.post(path, {}).status == 401
        assert buyer.post(path, b"{").status == 400
        assert buyer.post(path, b"kind=pow", headers={"Content-Type": "text/plain"}).status == 415


def test_beside_a_picture_there_is_always_work(shop):
    sale, buyer = shop.open_sale(human_check="image", pow_number_max=1000), shop.buyer()
    picture = checks.ask_for_picture(buyer, sale)
    assert picture["kind"] == "image" and picture["image"].startswith("data:image/png;base64,")
    assert picture["pow"]["kind"] == checks.ask(buyer, sale, "pow")["kind"] == "pow"
    assert checks.answered(buyer, sale, "wrong", challenge=picture["id"]).code == "check_failed"
    solved = checks.answered(buyer, sale, checks.payload(picture["pow"], checks.solve(picture["pow"])))
    assert solved.status == 200, "the work is a check of its own"
    assert buy(buyer, sale, token=solved.json["token"]).status == 202


def test_the_shop_may_waive_or_raise_the_check_for_one_buyer(shop, checked):
    def claiming(name: str, claim: str):
        return shop.public_with(jwt.mint(shop.server.hmac_secret, name, check=claim))
    assert buy(claiming("trusted", "none"), checked).status == 202
    plain = shop.open_sale()
    suspect = claiming("suspect", "pow")
    assert buy(suspect, plain).code == "token_required"
    assert buy(suspect, plain, token=checks.token_for(suspect, plain)).status == 202
    assert checks.ask_for_picture(claiming("very-suspect", "image"), checked)["kind"] == "image"
    assert buy(claiming("slip", "maybe"), checked).code == "unauthenticated", "a slip of the shop's is no waiver"


def test_a_token_is_had_from_the_warm_up_and_used_from_the_start(shop):
    times = {"opens_at": instant(3600), "closes_at": instant(7200), "warm_before_s": 60}
    sale, buyer = shop.create_sale(human_check="pow", pow_number_max=1000, **times), shop.buyer()
    assert buyer.get(f"/v1/sales/{sale}/challenges").code == "not_open"
    shop.act(sale, "warm")
    token = checks.token_for(buyer, sale)
    assert buy(buyer, sale, token=token).code == "not_open"
    shop.act(sale, "open")
    assert buy(buyer, sale, token=token).status == 202


def test_what_a_sale_asks_is_changed_while_it_runs(shop):
    sale = shop.open_sale(items=[item_terms(units_total=100)])
    assert buy(shop.buyer(), sale).status == 202
    change(shop, sale, human_check="pow", pow_number_max=2000)
    buyer = shop.buyer()
    assert buy(buyer, sale).code == "token_required"
    token = checks.token_for(buyer, sale)
    change(shop, sale, human_check="none")
    assert buy(buyer, sale, token=token).status == 202, "one that was got while the sale still asked is as good as ever"
    assert buy(shop.buyer(), sale).status == 202

    change(shop, sale, buyers_per_address_max=2)
    crowd = [shop.buyer(source="127.0.0.9") for _ in range(3)]
    assert [buy(member, sale).status for member in crowd] == [202, 202, 429]
    assert buy(crowd[0], sale).code == "limit_reached", "who has a place there keeps it"
    assert buy(shop.buyer(source="127.0.0.10"), sale).status == 202
    change(shop, sale, buyers_per_address_max=0)
    assert buy(crowd[2], sale).status == 202, "the server's own limit is off here"


def test_a_sale_may_have_a_pace_of_its_own(shop):
    sale, other = (shop.open_sale(items=[item_terms(units_total=100)]) for _ in range(2))
    change(shop, sale, purchases_per_second_max=1)
    buyers = [shop.buyer() for _ in range(20)]
    with ThreadPoolExecutor(len(buyers)) as crowd:  # one by one, each might take a second, and pass
        answers = list(crowd.map(lambda buyer: buy(buyer, sale), buyers))
    passed = sum(answer.status == 202 for answer in answers)
    assert 1 <= passed < len(buyers) and {answer.status for answer in answers} == {202, 429}
    for answer in answers:
        if answer.status == 429:
            assert answer.code == "rate_limited" and int(answer.headers["retry-after"]) >= 1
    assert shop.stock(sale)["units_held"] == passed, "what was refused took nothing"
    assert {buy(buyer, other).status for buyer in buyers} == {202}
    change(shop, sale, purchases_per_second_max=0)
    assert {buy(shop.buyer(), sale).status for _ in range(10)} == {202}


def test_a_token_is_its_purchase_also_when_that_is_over(shop, checked):
    buyer = shop.buyer()
    token, other = (checks.token_for(buyer, checked) for _ in range(2))
    bought = buy(buyer, checked, token=token).json
    assert buy(buyer, checked, token=other).code == "limit_reached"
    order = ordered(buyer, bought["id"])["order"]["id"]
    assert buyer.post(f"/v1/orders/{order}/cancel").status == 200
    shop.units_are_back(checked, units_available=10)
    again = buy(buyer, checked, token=token)
    assert (again.status, again.json["id"], again.json["status"]) == (202, bought["id"], "cancelled")
    assert shop.stock(checked)["units_held"] == 0
    assert buy(buyer, checked, token=other).status == 202, "a refusal binds nothing: the same token may win later"


def test_how_hard_the_work_is_follows_the_sale(shop, checked):
    buyer = shop.buyer()
    before = checks.ask(buyer, checked)["maxnumber"]
    change(shop, checked, pow_number_max=5000)
    assert checks.ask(buyer, checked)["maxnumber"] == 5 * before


@pytest.mark.parametrize("field, value", [("human_check", "retina"), ("human_check", 1), ("pow_number_max", -1),
                                          ("pow_number_max", 10**9), ("purchases_per_second_max", -1),
                                          ("purchases_per_second_max", 1.5), ("buyers_per_address_max", 65)])
def test_a_guard_that_makes_no_sense_is_422_and_changes_nothing(shop, field, value):
    sale = shop.open_sale()
    before = shop.admin.get(f"/v1/sales/{sale}").json
    answer = shop.admin.patch(f"/v1/sales/{sale}", {field: value}, headers={"If-Match": shop.version_of(sale)})
    assert (answer.status, answer.pointers) == (422, {f"/{field}"})
    assert shop.admin.get(f"/v1/sales/{sale}").json == before

"""The operator's listener: its key, its verbs, its versions, its reader of sales."""
import pytest

from lib.shop import buy, eventually, instant, item_terms, sale_terms

ADMIN_ONLY = [("POST", "/v1/sales/{sale}/open"), ("POST", "/v1/sales/{sale}/close"),
              ("POST", "/v1/sales/{sale}/restock"), ("GET", "/v1/sales/{sale}/status"),
              ("POST", "/v1/sales/{sale}/rebuild"), ("GET", "/v1/sales/{sale}/rebuild"),
              ("GET", "/v1/dead-letters"), ("GET", "/metrics")]


@pytest.mark.parametrize("method, path", [*ADMIN_ONLY, ("GET", "/v1/sales"), ("POST", "/v1/sales"),
                                          ("PATCH", "/v1/sales/{sale}")])
def test_without_the_key_nothing_is_told_or_done(shop, method, path):
    sale = shop.create_sale()
    for key in (None, "", "wrong", shop.server.admin_key[:-1], shop.server.admin_key + "x",
                shop.server.hmac_secret):
        answer = shop.admin_with(key).request(method, path.format(sale=sale))
        assert (answer.status, answer.code) == (401, "unauthenticated"), key


@pytest.mark.parametrize("method, path", ADMIN_ONLY)
def test_admin_calls_do_not_exist_on_the_public_listener(shop, method, path):
    sale = shop.create_sale(opens_at=instant(3600), closes_at=instant(7200))
    assert shop.public_with(shop.server.admin_key).request(method, path.format(sale=sale)).status == 404


def test_sales_cannot_be_made_or_changed_on_the_public_listener(shop):
    public, sale = shop.public_with(shop.server.admin_key), shop.create_sale()
    terms = sale_terms()
    assert public.post("/v1/sales", terms).status in (404, 405)
    assert public.patch(f"/v1/sales/{sale}", {"title": "x"}).status in (404, 405)
    assert shop.admin.get(f"/v1/sales/{terms['id']}").status == 404


def test_health_needs_no_key_and_metrics_do(shop):
    anyone = shop.admin_with(None)
    assert anyone.get("/livez").status == 200
    assert anyone.get("/readyz").status == 200
    metrics = shop.admin.get("/metrics")
    assert metrics.status == 200 and metrics.headers["content-type"].startswith("text/plain")
    assert b"doorbuster_requests_total" in metrics.body
    assert shop.server.admin_key.encode() not in metrics.body


def test_created_as_it_was_sent(shop):
    terms = sale_terms(opens_at=instant(3600), closes_at=instant(7200))
    created = shop.admin.post("/v1/sales", terms)
    assert (created.status, created.headers["location"]) == (201, f"/v1/sales/{terms['id']}")
    shown = shop.admin.get(f"/v1/sales/{terms['id']}")
    assert shown.headers["etag"] == created.headers["etag"] == f'"{shown.json["version"]}"'
    assert {name: shown.json[name] for name in terms} == terms
    assert shown.json["state"] == "scheduled"
    again = shop.admin.post("/v1/sales", terms)
    assert (again.status, again.code) == (409, "exists")
    assert terms["id"] in [entry["id"] for entry in shop.admin.get("/v1/sales").json["sales"]]


def test_what_is_left_out_has_a_default(shop):
    item = {"id": "phone", "name": "Phone", "price_minor": 100, "currency": "TWD", "units_total": 5}
    terms = {"id": sale_terms()["id"], "title": "T", "opens_at": instant(3600), "closes_at": instant(7200),
             "items": [item]}
    created = shop.admin.post("/v1/sales", terms).json
    assert (created["warm_before_s"], created["stock_policy"], created["payment_window_s"], created["human_check"],
            created["items"][0]["original_price_minor"], created["items"][0]["units_per_buyer_max"]) == (
        1800, "reserve", 900, "none", 100, 1)


def changed(path: str, value):
    """The terms of a valid sale with one value replaced; `...` removes it."""
    terms = sale_terms()
    at, *rest = [int(part) if part.isdigit() else part for part in path.split("/")[1:]]
    place = terms
    for part in rest:
        place, at = place[at], part
    if value is ...:
        del place[at]
    else:
        place[at] = value
    return terms


FAULTS = [
    ("/id", "Has Space"), ("/id", ""), ("/id", "-x"), ("/id", "x" * 65), ("/id", 7), ("/id", ...),
    ("/title", ""), ("/title", "x" * 201), ("/title", "line\nbreak"), ("/title", None), ("/title", ...),
    ("/opens_at", "yesterday"), ("/opens_at", 5), ("/opens_at", "2026-02-30T00:00:00Z"), ("/opens_at", ...),
    ("/closes_at", "2001-01-01T00:00:00Z"), ("/closes_at", ...),
    ("/warm_before_s", -1), ("/warm_before_s", 8 * 86400), ("/warm_before_s", "1"), ("/warm_before_s", 1.5),
    ("/payment_window_s", 4), ("/payment_window_s", 86401),
    ("/stock_policy", "at_random"), ("/human_check", "retina"), ("/state", "open"),
    ("/items", []), ("/items", "x"), ("/items", ...), ("/items/0", 5),
    ("/items/0/id", "No Slug"), ("/items/0/id", ...), ("/items/0/name", ""), ("/items/0/price_minor", -1),
    ("/items/0/price_minor", 1.5), ("/items/0/price_minor", 10**12 + 1), ("/items/0/price_minor", ...),
    ("/items/0/original_price_minor", 1), ("/items/0/currency", "NT$"), ("/items/0/currency", "twd"),
    ("/items/0/units_total", 0), ("/items/0/units_total", -5), ("/items/0/units_total", 100_000_001),
    ("/items/0/units_total", 2**32 + 5), ("/items/0/units_total", ...),
    ("/items/0/units_per_buyer_max", 0), ("/items/0/units_per_buyer_max", 11),
    ("/surprise", 1), ("/items/0/surprise", 1),
]


@pytest.mark.parametrize("pointer, value", FAULTS)
def test_a_fault_in_a_sale_is_422_with_its_pointer(shop, pointer, value):
    terms = changed(pointer, value)
    answer = shop.admin.post("/v1/sales", terms)
    assert (answer.status, answer.code) == (422, "invalid")
    assert pointer in answer.pointers
    if isinstance(terms.get("id"), str) and terms["id"].startswith("drop-"):
        assert shop.admin.get(f"/v1/sales/{terms['id']}").status == 404, "nothing was created"


def test_every_fault_is_named_at_once(shop):
    terms = sale_terms(title="", warm_before_s=-1, surprise=1,
                       items=[item_terms(currency="x"), item_terms(units_total=0), item_terms("b", name="")])
    assert shop.admin.post("/v1/sales", terms).pointers >= {
        "/title", "/warm_before_s", "/surprise", "/items/0/currency", "/items/1/units_total", "/items/2/name"}


def test_a_sale_that_is_over_already_is_not_begun(shop):
    terms = sale_terms(opens_at=instant(-120), closes_at=instant(-60))
    for state in ("draft", "scheduled"):
        answer = shop.admin.post("/v1/sales", {**terms, "state": state})
        assert (answer.status, answer.json["errors"]) == (
            422, [{"pointer": "/closes_at", "detail": "is over already"}]), state
    assert shop.admin.get(f"/v1/sales/{terms['id']}").status == 404


def test_what_is_over_leaves_the_public_list_and_stays_findable(shop):
    def listed(client):
        return sale in [entry["id"] for entry in client.get("/v1/sales").json["sales"]]
    sale = shop.open_sale()
    before = shop.anyone.get("/v1/sales").headers["etag"]
    assert listed(shop.anyone)
    shop.act(sale, "close")
    assert not listed(shop.anyone) and listed(shop.admin)
    assert shop.anyone.get("/v1/sales").headers["etag"] != before
    over = shop.anyone.get(f"/v1/sales/{sale}").json["state"]
    assert over in ("closed", "reconciled"), "the audit behind the close comes by itself"


def test_warming_a_draft_says_how_to_schedule_it(shop):
    sale = shop.create_sale(state="draft")
    answer = shop.admin.post(f"/v1/sales/{sale}/warm")
    assert (answer.status, answer.code) == (409, "wrong_state")
    assert f"doorbuster sale schedule {sale}" in answer.json["detail"]


def test_the_keys_scheme_may_be_written_in_any_case(shop):
    anyone = shop.admin_with(None)
    for scheme, status in (("bearer", 200), ("BEARER", 200), ("Basic", 401)):
        answer = anyone.get("/v1/sales", headers={"Authorization": f"{scheme} {shop.server.admin_key}"})
        assert answer.status == status, scheme


def test_an_item_id_used_twice_is_a_fault(shop):
    assert "/items/1/id" in shop.admin.post("/v1/sales", sale_terms(items=[item_terms(), item_terms()])).pointers


def test_a_change_needs_the_version_that_was_seen(shop):
    sale = shop.create_sale(opens_at=instant(3600), closes_at=instant(7200))
    path, seen = f"/v1/sales/{sale}", shop.version_of(sale)
    assert shop.admin.patch(path, {"title": "New"}).code == "version_required"
    assert shop.admin.patch(path, {"title": "New"}, headers={"If-Match": '"999"'}).code == "version_changed"
    done = shop.admin.patch(path, {"title": "New"}, headers={"If-Match": seen})
    assert (done.status, done.json["title"]) == (200, "New") and done.headers["etag"] != seen
    late = shop.admin.patch(path, {"title": "Late"}, headers={"If-Match": seen})
    assert (late.status, late.code) == (412, "version_changed")
    assert shop.admin.get(path).json["title"] == "New"
    assert shop.admin.post(f"{path}/warm", headers={"If-Match": seen}).status == 412


def test_a_change_is_checked_like_a_new_sale(shop):
    sale = shop.create_sale(opens_at=instant(3600), closes_at=instant(7200))
    version = {"If-Match": shop.version_of(sale)}
    for body, pointer in (({"title": ""}, "/title"), ({"surprise": 1}, "/surprise"), ({"id": "other"}, "/id"),
                          ({"closes_at": instant(0)}, "/closes_at"),
                          ({"opens_at": instant(-60), "closes_at": instant(-1)}, "/closes_at")):
        answer = shop.admin.patch(f"/v1/sales/{sale}", body, headers=version)
        assert (answer.status, pointer in answer.pointers) == (422, True), body
    assert shop.admin.patch("/v1/sales/none", {"title": "x"}, headers=version).status == 404


def test_an_open_sale_keeps_its_items(shop):
    sale = shop.open_sale()
    answer = shop.admin.patch(f"/v1/sales/{sale}", {"items": [item_terms(units_total=99)]},
                              headers={"If-Match": shop.version_of(sale)})
    assert answer.status in (409, 422)
    assert shop.stock(sale)["units_total"] == 10


def test_restock_in_mid_sale_clears_sold_out(shop):
    sale = shop.open_sale(items=[item_terms(units_total=1)])
    assert buy(shop.buyer(), sale).status == 202
    loser = shop.buyer()
    assert buy(loser, sale, key="k").code == "sold_out"
    path, body = f"/v1/sales/{sale}/restock", {"item": "phone", "units": 2}
    assert shop.admin.post(path, body).code == "version_required"
    assert shop.admin.post(path, body, headers={"If-Match": '"999"'}).code == "version_changed"
    seen = shop.version_of(sale)
    assert shop.admin.post(path, body, headers={"If-Match": seen}).status == 200
    assert shop.admin.post(path, body, headers={"If-Match": seen}).status == 412, "not twice by one reading"
    assert shop.stock(sale)["units_total"] == 3
    assert buy(loser, sale, key="k").status == 202
    assert buy(shop.buyer(), sale).status == 202
    assert buy(shop.buyer(), sale).code == "sold_out"


@pytest.mark.parametrize("body, pointer", [({"item": "phone"}, "/units"), ({"units": 1}, "/item"),
                                           ({"item": "phone", "units": 0}, "/units"),
                                           ({"item": "phone", "units": -1}, "/units"),
                                           ({"item": "phone", "units": 1.5}, "/units"),
                                           ({"item": "phone", "units": 2**40}, "/units"),
                                           ({"item": "phone", "units": 1, "x": 1}, "/x")])
def test_a_restock_that_makes_no_sense_is_422(shop, body, pointer):
    sale = shop.open_sale()
    answer = shop.admin.post(f"/v1/sales/{sale}/restock", body, headers={"If-Match": shop.version_of(sale)})
    assert (answer.status, answer.pointers) == (422, {pointer})
    assert shop.stock(sale)["units_total"] == 10


def keep_from_being_reconciled(shop, sale: str) -> None:
    """After the close it would be at any moment; an order that waits for its payment puts that off."""
    assert buy(shop.buyer(), sale).status == 202


def test_verbs_may_be_repeated(shop):
    sale = shop.create_sale(opens_at=instant(3600), closes_at=instant(7200))
    for verb, state in (("warm", "ready"), ("open", "open"), ("pause", "paused"), ("resume", "open"),
                        ("close", "closed")):
        first, second = shop.act(sale, verb), shop.act(sale, verb)
        assert first.json["state"] == second.json["state"] == state
        assert first.headers["etag"] == second.headers["etag"], "a repeat changes nothing"
        if verb == "open":
            keep_from_being_reconciled(shop, sale)


@pytest.mark.parametrize("before, verb", [([], "pause"), ([], "resume"), (["warm"], "pause"),
                                          (["warm", "open", "close"], "open"),
                                          (["warm", "open", "close"], "pause"),
                                          (["warm", "open", "close"], "resume")])
def test_a_verb_out_of_turn_is_wrong_state(shop, before, verb):
    sale = shop.create_sale(opens_at=instant(3600), closes_at=instant(7200))
    for step in before:
        shop.act(sale, step)
        if step == "open":
            keep_from_being_reconciled(shop, sale)
    state = shop.admin.get(f"/v1/sales/{sale}").json["state"]
    answer = shop.admin.post(f"/v1/sales/{sale}/{verb}")
    assert (answer.status, answer.code) == (409, "wrong_state")
    assert shop.admin.get(f"/v1/sales/{sale}").json["state"] == state


def test_verbs_for_a_sale_that_is_not_there_are_404(shop):
    for verb in ("warm", "open", "pause", "resume", "close"):
        assert shop.admin.post(f"/v1/sales/none/{verb}").code == "not_found"
    assert shop.admin.get("/v1/sales/none/status").code == "not_found"
    assert shop.admin.post("/v1/sales/none/explode").code == "not_found"


def test_the_status_counts_what_happens(shop):
    sale = shop.open_sale()
    before = shop.admin.get(f"/v1/sales/{sale}/status").json
    assert buy(shop.buyer(), sale).status == 202
    # The answer leaves first, then it is counted.
    eventually("it is counted", lambda: shop.admin.get(f"/v1/sales/{sale}/status").json["ledger"][
        "acceptances_total"] == before["ledger"]["acceptances_total"] + 1)
    after = shop.admin.get(f"/v1/sales/{sale}/status").json
    assert after["sale"]["id"] == sale
    assert after["server"]["acceptances_total"] == after["ledger"]["acceptances_total"]
    assert after["server"].keys() == {*after["ledger"], *after["orders"], *after["queue"]}


def test_books_in_the_servers_own_memory_are_not_rebuilt_by_hand(shop):
    path = f"/v1/sales/{shop.open_sale()}/rebuild"
    for answer in (shop.admin.post(path), shop.admin.post(path, {"item": "phone", "reason": "x"}), shop.admin.get(path)):
        assert (answer.status, answer.code) == (409, "wrong_state")
        assert "in its own memory" in answer.json["detail"]
    assert shop.admin.post(path, {"item": "nothing-such"}).status == 404
    assert shop.admin.post(path, {"item": 7, "when": "now"}).pointers == {"/item", "/when"}
    for nowhere in (shop.admin.post("/v1/sales/no-such-sale/rebuild"), shop.admin.get("/v1/sales/no-such-sale/rebuild")):
        assert (nowhere.status, nowhere.code) == (404, "not_found")
    assert shop.admin.request("DELETE", path).status == 405


def test_a_warm_up_that_waits_for_nothing_finds_nothing(shop):
    sale = shop.create_sale(opens_at=instant(3600), closes_at=instant(7200))
    for verb, state in ((None, "scheduled"), ("warm", "ready"), ("open", "open")):
        if verb:
            assert shop.admin.post(f"/v1/sales/{sale}/{verb}").json["state"] == state
        status = shop.admin.get(f"/v1/sales/{sale}/status").json
        assert (status["sale"]["state"], status["warm_up"]) == (state, [])

"""One whole sale, by hand."""
from concurrent.futures import ThreadPoolExecutor

from lib.shop import buy, eventually, instant, item_terms, ordered


def test_a_whole_sale_from_draft_to_close(shop):
    sale = shop.create_sale(opens_at=instant(3600), closes_at=instant(7200), state="draft",
                            items=[item_terms(units_total=3)])
    assert shop.anyone.get(f"/v1/sales/{sale}").status == 404, "drafts are nobody's business"
    scheduled = shop.admin.patch(f"/v1/sales/{sale}", {"state": "scheduled"},
                                 headers={"If-Match": shop.version_of(sale)})
    assert (scheduled.status, scheduled.json["state"]) == (200, "scheduled")
    assert shop.act(sale, "warm").json["state"] == "ready"

    alice = shop.buyer()
    assert buy(alice, sale, key="before").code == "not_open"
    assert shop.act(sale, "open").json["state"] == "open"
    assert shop.anyone.get(f"/v1/sales/{sale}").json["state"] == "open"

    bought = buy(alice, sale, key="first", quantity=1)
    assert bought.status == 202, bought.body
    purchase = bought.json
    assert bought.headers["location"] == f"/v1/purchases/{purchase['id']}"
    assert (purchase["status"], purchase["sale"], purchase["item"], purchase["quantity"],
            purchase["sequence"]) == ("accepted", sale, "phone", 1, 1)
    assert buy(alice, sale, key="first", quantity=1).json == purchase, "same key, same purchase"

    order = ordered(alice, purchase["id"])["order"]
    assert (order["purchase"], order["quantity"], order["amount_minor"], order["currency"], order["state"]) == (
        purchase["id"], 1, 999900, "TWD", "pending_payment")
    assert alice.get(f"/v1/orders/{order['id']}").json == order
    assert [listed["id"] for listed in alice.get("/v1/orders").json["orders"]] == [order["id"]]
    assert shop.stock(sale) == {"id": "phone", "units_total": 3, "units_available": 2, "units_held": 1,
                                "units_sold": 0}

    cancelled = alice.post(f"/v1/orders/{order['id']}/cancel")
    assert (cancelled.status, cancelled.json["state"]) == (200, "cancelled")
    assert alice.post(f"/v1/orders/{order['id']}/cancel").json == cancelled.json
    shop.stock_becomes(sale, units_available=3)
    gone = alice.get(f"/v1/purchases/{purchase['id']}").json
    assert (gone["status"], gone["sequence"]) == ("cancelled", 1) and gone["reason"]

    repeated = buy(alice, sale, key="first", quantity=1)
    assert (repeated.status, repeated.json["id"], repeated.json["status"]) == (202, purchase["id"], "cancelled")
    assert shop.stock(sale)["units_available"] == 3, "a finished purchase takes no second unit"
    again = buy(alice, sale, key="second")
    assert (again.status, again.json["sequence"]) == (202, 2)
    ordered(alice, again.json["id"])

    assert shop.act(sale, "close").json["state"] == "closed"
    assert buy(shop.buyer(), sale).code == "ended"
    assert buy(alice, sale, key="second").json["id"] == again.json["id"], "a winner never hears `ended`"
    assert alice.get(f"/v1/purchases/{again.json['id']}").json["status"] == "ordered"
    assert shop.stock(sale)["units_available"] == 2


def test_a_sale_opens_and_closes_by_the_clock(shop):
    newest = shop.admin.get("/v1/events?after=newest").json["next"]
    sale = shop.create_sale(opens_at=instant(2), closes_at=instant(4))
    eventually("it closes", lambda: shop.admin.get(f"/v1/sales/{sale}").json["state"] in ("closed", "reconciled"))
    assert buy(shop.buyer(), sale).code == "ended"
    events = [event["payload"] for event in shop.admin.get(f"/v1/events?after={newest}").json["events"]]
    steps = [event["type"] for event in events if event["data"]["id"] == sale]
    assert steps[:2] == ["sale.opened", "sale.closed"], steps


def test_a_verb_that_was_answered_holds_at_every_gate(shop):
    buyers = [shop.buyer() for _ in range(16)]
    for buyer in buyers:
        assert buyer.get("/v1/time").status == 200  # connected, each to some gate
    with ThreadPoolExecutor(len(buyers)) as crowd:
        for _ in range(10):
            sale = shop.create_sale(opens_at=instant(3600), closes_at=instant(7200),
                                    items=[item_terms(units_total=1000, units_per_buyer_max=2)])
            shop.act(sale, "warm")
            for verb, heard in (("open", {None}), ("pause", {"paused"}), ("resume", {None}), ("close", {"ended"})):
                shop.act(sale, verb)
                assert set(crowd.map(lambda buyer: buy(buyer, sale).code, buyers)) == heard, verb


def test_sequence_numbers_are_dense_and_in_order(shop):
    sale = shop.open_sale(items=[item_terms(units_total=20), item_terms("watch", units_total=5)])
    assert [buy(shop.buyer(), sale).json["sequence"] for _ in range(20)] == list(range(1, 21))
    assert [buy(shop.buyer(), sale, "watch").json["sequence"] for _ in range(5)] == list(range(1, 6))
    assert buy(shop.buyer(), sale).code == "sold_out"


def test_without_a_key_a_repeat_meets_the_limit_and_hears_what_it_holds(shop):
    sale = shop.open_sale()
    alice = shop.buyer()
    first = buy(alice, sale)
    assert first.status == 202
    second = buy(alice, sale)
    assert (second.status, second.code, second.json["purchase"]) == (409, "limit_reached", first.json["id"])


def test_keys_are_scoped_to_sale_item_and_buyer(shop):
    items = [item_terms(), item_terms("watch")]
    sale, other = shop.open_sale(items=items), shop.open_sale(items=items)
    alice, bob = shop.buyer(), shop.buyer()
    ids = {buy(alice, sale, key="k").json["id"], buy(alice, sale, "watch", key="k").json["id"],
           buy(alice, other, key="k").json["id"], buy(bob, sale, key="k").json["id"]}
    assert len(ids) == 4


def test_the_orders_of_a_buyer_come_newest_first_in_pages(shop):
    items = [item_terms(f"thing-{n}") for n in range(5)]
    sale = shop.open_sale(items=items)
    alice = shop.buyer()
    bought = [buy(alice, sale, item["id"]).json["id"] for item in items]
    for purchase in bought:
        ordered(alice, purchase)
    seen, before = [], ""
    for expected in (2, 2, 1):
        page = alice.get(f"/v1/orders?limit=2{before}").json
        assert len(page["orders"]) == expected
        seen += [order["purchase"] for order in page["orders"]]
        before = f"&before={page['next']}"
    assert page["next"] is None
    assert seen == bought[::-1]
    for bad in ("limit=0", "limit=101", "limit=x", "before=x"):
        assert alice.get(f"/v1/orders?{bad}").status == 422, bad


def test_a_public_sale_can_be_cached(shop):
    sale = shop.open_sale()
    shown = shop.anyone.get(f"/v1/sales/{sale}")
    assert shown.status == 200 and "max-age" in shown.headers["cache-control"]
    same = shop.anyone.get(f"/v1/sales/{sale}", headers={"If-None-Match": shown.headers["etag"]})
    assert (same.status, same.body) == (304, b"")
    assert sale in [entry["id"] for entry in shop.anyone.get("/v1/sales").json["sales"]]
    assert "max-age=1" in shop.anyone.get(f"/v1/sales/{sale}/stock").headers["cache-control"]
    head = shop.anyone.request("HEAD", f"/v1/sales/{sale}")
    assert (head.status, head.body) == (200, b"")


def test_the_clock_the_page_and_the_document_are_served(shop):
    now = shop.anyone.get("/v1/time")
    assert now.json["now_ms"] > 1_700_000_000_000 and "no-store" in now.headers["cache-control"]
    assert shop.anyone.get("/").headers["content-type"].startswith("text/html")
    assert shop.anyone.get("/openapi.json").json["openapi"].startswith("3.1")
    assert shop.anyone.post("/dev/sign-in", {"buyer": "eve"}).status == 404, "only `doorbuster dev` signs in"


def test_the_clock_tells_how_a_sale_stands(shop):
    sale = shop.create_sale(opens_at=instant(3600), closes_at=instant(7200))
    shown = shop.anyone.get(f"/v1/sales/{sale}").json
    told = shop.anyone.get(f"/v1/time?sale={sale}").json["sale"]
    assert told == {**{name: shown[name] for name in ("state", "opens_at_ms", "closes_at_ms")}, "sold_out_at_ms": None}
    shop.act(sale, "warm")
    shop.act(sale, "open")
    told = shop.anyone.get(f"/v1/time?sale={sale}").json
    assert told["sale"]["state"] == "open" and told["sale"]["opens_at_ms"] <= told["now_ms"]
    draft = shop.create_sale(opens_at=instant(3600), closes_at=instant(7200), state="draft")
    for unknown in (draft, "none", ""):
        assert shop.anyone.get(f"/v1/time?sale={unknown}").json["sale"] is None


def test_the_clock_tells_when_the_last_unit_went(own_shop):
    shop = own_shop.start()
    sale = shop.open_sale(items=[item_terms(units_total=1)])
    told = lambda: shop.anyone.get(f"/v1/time?sale={sale}").json["sale"]
    assert told()["sold_out_at_ms"] is None
    winner = shop.buyer("winner")
    purchase = buy(winner, sale, key="last").json
    order = ordered(winner, purchase["id"])["order"]
    assert (told()["state"], told()["sold_out_at_ms"]) == ("sold_out", purchase["accepted_at_ms"])
    shop.server.kill()
    shop.restart()
    assert (told()["state"], told()["sold_out_at_ms"]) == ("sold_out", purchase["accepted_at_ms"])
    assert shop.buyer("winner").post(f"/v1/orders/{order['id']}/cancel").status == 200
    eventually("the unit is back", lambda: told()["state"] == "open")
    assert told()["sold_out_at_ms"] is None

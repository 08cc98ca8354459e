"""A purchase followed as server-sent events."""
import sqlite3
import time

import pytest

from lib.events import EventStream
from lib.server import Server
from lib.shop import Shop, buy, item_terms, ordered

UNKNOWN = "0" * 31 + "1"
UNPLACEABLE = bytes(range(16))
TRIED_S = 6  # again, after 1, 2 and 3 seconds


@pytest.fixture(scope="module")
def shop(contract, tmp_path_factory):
    with Server(tmp_path_factory.mktemp("shop"), DOORBUSTER_EVENTS__HEARTBEAT_S="1") as server:
        shop = Shop(server, contract).start()
        yield shop
        shop.close()
        assert server.stop() == 0, server.said()


@pytest.fixture
def bought(shop):
    """A buyer and the id of what they bought."""
    buyer = shop.buyer()
    return buyer, buy(buyer, shop.open_sale()).json["id"]


def cancel(buyer, order: dict) -> None:
    assert buyer.post(f"/v1/orders/{order['id']}/cancel").status == 200


def test_a_purchase_is_followed_from_yes_to_cancellation(bought):
    buyer, purchase = bought
    with EventStream(buyer, purchase) as stream:
        assert stream.status == 200
        assert stream.headers["content-type"] == "text/event-stream"
        assert (stream.headers["cache-control"], stream.headers["x-accel-buffering"]) == ("no-store", "no")
        placed = stream.until("ordered")
        assert 1000 <= stream.retry_ms <= 3000
        assert placed.data == buyer.get(f"/v1/purchases/{purchase}").json
        assert placed.data["order"]["state"] == "pending_payment"
        cancel(buyer, placed.data["order"])
        ended = stream.until("cancelled")
        assert ended.id > placed.id
        assert ended.data == buyer.get(f"/v1/purchases/{purchase}").json
        stream.wait_for_heartbeat()  # a late payment may still bring it back


def test_who_comes_back_hears_what_is_newer_and_nothing_else(bought):
    buyer, purchase = bought
    ordered(buyer, purchase)
    with EventStream(buyer, purchase) as first:
        seen = first.next()
    with EventStream(buyer, purchase, last_event_id=seen.id) as same:
        same.wait_for_heartbeat()  # and no event before it
        cancel(buyer, seen.data["order"])
        assert same.next().name == "cancelled"
    for older in (seen.id, 0):
        with EventStream(buyer, purchase, last_event_id=older) as stream:
            assert stream.next().name == "cancelled"


@pytest.mark.parametrize("garbage", ["", "x", "-1", "1.0", "0x1", " ", "9" * 400, "\xff"])
def test_a_last_event_id_that_is_none_is_none(bought, garbage):
    buyer, purchase = bought
    ordered(buyer, purchase)
    with EventStream(buyer, purchase, last_event_id=garbage) as stream:
        assert stream.next().name == "ordered"


def test_every_stream_of_a_purchase_hears_it(bought):
    buyer, purchase = bought
    streams = [EventStream(buyer, purchase) for _ in range(5)]
    order = [stream.until("ordered") for stream in streams][0].data["order"]
    cancel(buyer, order)
    assert {stream.until("cancelled").data["order"]["state"] for stream in streams} == {"cancelled"}
    for stream in streams:
        stream.close()


def test_a_change_is_told_without_waiting_for_a_heartbeat(own_shop):
    own_shop.server.settings["DOORBUSTER_EVENTS__HEARTBEAT_S"] = "300"
    shop = own_shop.start()
    sale = shop.open_sale(items=[item_terms(units_total=20)])
    for _ in range(20):  # whatever the order in which the stream opens and the order is made
        buyer = shop.buyer()
        with EventStream(buyer, buy(buyer, sale).json["id"]) as stream:
            cancel(buyer, stream.until("ordered").data["order"])
            assert stream.until("cancelled")
            assert stream.heartbeats == 0
    assert shop.server.stop() == 0


def test_anothers_purchase_does_not_exist(shop, bought):
    _, purchase = bought
    mallory = shop.buyer()
    for _ in range(2):  # the second time from memory
        another, unknown = EventStream(mallory, purchase).answer, EventStream(mallory, UNKNOWN).answer
        plain = mallory.get(f"/v1/purchases/{purchase}")
        assert another.status == unknown.status == 404
        assert another.body == unknown.body == plain.body
        assert {**another.headers, "date": ""} == {**unknown.headers, "date": ""} == {**plain.headers, "date": ""}
    assert EventStream(mallory, "no-id").status == 404
    assert shop.anyone.get(f"/v1/purchases/{purchase}/events").status == 401
    assert mallory.post(f"/v1/purchases/{purchase}/events").headers["allow"] == "GET, HEAD"


def test_head_is_answered_without_a_stream(bought):
    buyer, purchase = bought
    for _ in range(10):  # more than a buyer's streams: it keeps none
        with EventStream(buyer, purchase, method="HEAD") as head:
            assert (head.status, head.headers["content-type"]) == (200, "text/event-stream")
            assert head.next() is None


def test_a_closed_server_refuses_streams_as_it_refuses_look_ups(shop, bought):
    buyer, purchase = bought
    assert shop.admin.put("/v1/level", {"level": "closed"}).status == 200
    assert EventStream(buyer, purchase).answer.code == buyer.get(f"/v1/purchases/{purchase}").code == "unavailable"
    assert shop.admin.put("/v1/level", {"level": "purchase_only"}).status == 200
    with EventStream(buyer, purchase) as stream:
        assert stream.until("ordered")
    assert shop.admin.put("/v1/level", {"level": "auto"}).status == 200


def test_a_long_stream_ends_and_its_client_goes_on_where_it_was(own_shop):
    own_shop.server.settings["DOORBUSTER_EVENTS__STREAM_S_MAX"] = "1"
    shop = own_shop.start()
    buyer = shop.buyer()
    purchase = buy(buyer, shop.open_sale()).json["id"]
    order = ordered(buyer, purchase)["order"]
    with EventStream(buyer, purchase) as stream:
        seen = stream.next()
        assert stream.next() is None, "it ends by itself"
    cancel(buyer, order)
    with EventStream(buyer, purchase, last_event_id=seen.id) as stream:
        assert stream.next().name == "cancelled", "what happened meanwhile is not missed"
    assert shop.server.stop() == 0


def test_streams_end_when_the_server_stops_and_hold_nothing_up(own_shop):
    own_shop.server.settings["DOORBUSTER_SERVER__DRAIN_MS_MAX"] = "3600000"
    shop = own_shop.start()
    buyer = shop.buyer()
    purchase = buy(buyer, shop.open_sale()).json["id"]
    with EventStream(buyer, purchase) as stream:
        stream.until("ordered")
        assert shop.server.stop() == 0
        assert stream.next() is None
    assert "still in hand" not in shop.server.said()


def test_a_cancellation_before_any_order_is_the_last_event(own_shop):
    shop = own_shop.start()
    sale = shop.open_sale()
    ordered(shop.buyer("alice"), buy(shop.buyer("alice"), sale).json["id"])
    assert shop.server.stop() == 0
    ledger = sqlite3.connect(shop.server.data / "ledger.db")
    position = ledger.execute("SELECT max(position) FROM ledger").fetchone()[0] + 1
    ledger.execute("INSERT INTO ledger(position, sale, item, epoch, bucket, sequence, purchase, buyer, units, "
                   "accepted_at_ms) SELECT ?, sale, 'ghost', epoch, bucket, 1, ?, 'bob', 1, accepted_at_ms "
                   "FROM ledger WHERE position = ?", (position, UNPLACEABLE, position - 1))
    ledger.commit()
    ledger.close()

    own_shop.server.settings["DOORBUSTER_EVENTS__HEARTBEAT_S"] = "1"
    began = time.monotonic()
    shop.restart()
    bob = shop.buyer("bob")
    with EventStream(bob, UNPLACEABLE.hex()) as stream:
        first = ended = stream.next()
        # Who comes late, when it has been tried for long enough, finds it cancelled.
        if first.name != "cancelled" or time.monotonic() - began < TRIED_S:
            assert (first.name, first.id, first.data["order"]) == ("accepted", 0, None)
            ended = stream.next()
        assert (ended.name, ended.id) == ("cancelled", 1) and ended.data["reason"]
        assert stream.next() is None
    assert EventStream(bob, UNPLACEABLE.hex(), last_event_id=1).status == 204, "nothing to come back for"
    with EventStream(bob, UNPLACEABLE.hex()) as again:
        assert again.next() == ended
    assert shop.server.stop() == 0

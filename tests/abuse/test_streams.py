"""Event streams by the thousand: each is a connection that somebody else cannot have."""
import itertools

import pytest

from lib.events import EventStream
from lib.shop import eventually, item_terms, ordered

STREAMS_MAX, PER_BUYER = 2000, 5


@pytest.fixture(scope="module")
def settings() -> dict:
    return {"DOORBUSTER_EVENTS__STREAMS_MAX": str(STREAMS_MAX), "DOORBUSTER_EVENTS__STREAMS_PER_BUYER_MAX": str(PER_BUYER),
            "DOORBUSTER_EVENTS__HEARTBEAT_S": "1"}


def refused(stream: EventStream) -> str:
    """It was, for lack of room; its Retry-After."""
    assert (stream.status, stream.answer.code) == (503, "overloaded"), stream.answer
    stream.close()
    return stream.headers["retry-after"]


def test_25_thousands_of_event_streams(shop, scene):
    crowd = STREAMS_MAX // PER_BUYER
    sale = scene.sale(items=[item_terms(units_total=crowd + 10)])
    buyers = [shop.buyer() for _ in range(crowd)]
    bought = {buyer: scene.honest(sale, buyer) for buyer in buyers}
    late = shop.buyer()
    purchase = scene.honest(sale, late)

    streams = []
    for buyer in buyers:
        streams += [EventStream(buyer, bought[buyer]) for _ in range(PER_BUYER)]
        refused(EventStream(buyer, bought[buyer]))
    assert {stream.status for stream in streams} == {200}, "those within the caps are served"

    waits = {refused(EventStream(late, purchase)) for _ in range(60)}
    assert waits == {"1", "2", "3"}, "who is refused together does not come back together"
    assert ordered(late, purchase), "who is refused a stream can still ask"
    scene.honest(sale)
    for stream in itertools.islice(streams, 0, None, 97):
        assert stream.until("ordered").data["status"] == "ordered", "who has one hears of everything"

    streams.pop().close()
    def has_room():
        stream = EventStream(late, purchase)
        if stream.status == 200:
            streams.append(stream)
            return True
        refused(stream)
        return False
    eventually("a stream that has gone leaves its room", has_room)
    refused(EventStream(shop.buyer(late.name), purchase))
    for stream in streams:
        stream.close()


def test_25_streams_leave_half_of_the_connections_to_the_others(serving):
    with serving(DOORBUSTER_SERVER__THREADS="1", DOORBUSTER_SERVER__CONNECTIONS_MAX="20") as shop:
        sale = shop.open_sale(items=[item_terms(units_total=10)])
        streams = []
        for buyer in (shop.buyer(), shop.buyer()):
            answer = buyer.post(f"/v1/sales/{sale}/purchases", {"item": "phone"})
            buyer.close()
            streams += [EventStream(buyer, answer.json["id"]) for _ in range(5)]
        assert {stream.status for stream in streams} == {200}
        third = shop.buyer()
        answer = third.post(f"/v1/sales/{sale}/purchases", {"item": "phone"})
        assert answer.status == 202, "whoever buys still gets in"
        refused(EventStream(third, answer.json["id"]))
        ordered(third, answer.json["id"])
        for stream in streams:
            stream.close()

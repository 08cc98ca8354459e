"""Floods: whose address counts, how exactly limits hold, and that their tables stay small."""
import json
import threading
import time

import pytest

from lib.shop import buy, eventually, item_terms
from scene import Scene, memory_bytes
from wire import Pipe, get

BURST = 20


@pytest.fixture(scope="module")
def settings() -> dict:
    """An address gets 20 at once and one a second: what a test sends in a moment meets the burst alone."""
    return {"DOORBUSTER_LIMITS__ADDRESS_PER_SECOND": "1", "DOORBUSTER_LIMITS__ADDRESS_BURST": str(BURST),
            "DOORBUSTER_SERVER__TRUSTED_PROXIES": "127.0.0.1,127.0.1.0/24"}


def passes(shop, requests: list, source: str = "127.0.0.1") -> tuple:
    """How many of the requests pass, and the most that a bucket may pass in the time that they took."""
    began = time.monotonic()
    with Pipe(shop.server.public_port, source) as pipe:
        pipe.send(b"".join(requests))
        statuses = [status for status, _ in pipe.receive(len(requests))]
    assert set(statuses) <= {200, 429}
    return statuses.count(200), BURST + 1 + int(time.monotonic() - began)


def forwarded(*hops: str) -> bytes:
    return get("/v1/time", *(f"X-Forwarded-For: {hop}" for hop in hops))


def limited(shop, requests: list, source: str = "127.0.0.1") -> None:
    """They are counted as one address: at least the burst passes, and no more than the bucket has."""
    passed, most = passes(shop, requests, source)
    assert BURST <= passed <= most, (passed, most)


def test_17_a_forwarded_address_that_is_made_up(shop, scene):
    sale, count = scene.sale(), 5 * BURST
    # A peer that is no proxy of ours: what it says about others is not heard.
    limited(shop, [forwarded(f"198.51.100.{number}") for number in range(count)], "127.0.0.2")
    # Behind a trusted proxy: only the rightmost hop that is not trusted counts.
    for number, hops in enumerate((lambda n: [f"198.51.100.{n}, 203.0.113.1"],
                                   lambda n: [f"198.51.100.{n}", "203.0.113.2"],
                                   lambda n: [f"198.51.100.{n}, 203.0.113.3, 127.0.1.7"],
                                   lambda n: [f"198.51.100.{n}, rubbish, 127.0.1.7"],
                                   lambda n: [f"198.51.100.{n}, 203.0.113.4:{1024 + n}"])):
        limited(shop, [forwarded(*hops(n)) for n in range(count)])
    # Honest people beside them: another address, and another behind the same proxy.
    scene.honest(sale, shop.buyer(source="127.0.0.3"))
    passed, _ = passes(shop, [forwarded(f"192.0.2.{number}") for number in range(count)])
    assert passed == count, "each of them came from an address of its own"
    buyer = shop.buyer()
    scene.bought(sale, buyer.post(f"/v1/sales/{sale}/purchases", {"item": "phone"},
                                  headers={"X-Forwarded-For": "192.0.2.200"}))


def test_18_rotating_through_a_subnet(shop, scene):
    sale, count = scene.sale(), 5 * BURST
    limited(shop, [forwarded(f"2001:db8:0:1:{number:x}:{number * 7919 % 65536:x}::1") for number in range(count)])
    limited(shop, [forwarded(f"[2001:db8:0:2::{number:x}]:{1024 + number}") for number in range(count)])
    passed, _ = passes(shop, [forwarded(f"2001:db8:1:{number:x}::1") for number in range(count)])
    assert passed == count, "each of them came from a subnet of its own"
    # An IPv4 address has one limit, however it is spelt.
    limited(shop, [forwarded("::ffff:203.0.113.9" if number % 2 else "203.0.113.9") for number in range(count)])
    answer = shop.buyer().post(f"/v1/sales/{sale}/purchases", {"item": "phone"},
                               headers={"X-Forwarded-For": "2001:db8:0:3::1"})
    scene.bought(sale, answer)


def flood(shop, seconds: float, source: str, connections: int = 4) -> list:
    """Asks for the time as fast as it can, on several connections. When, by the server's clock, each pass was."""
    ends_at, passed, ask, batch = time.monotonic() + seconds, [], get("/v1/time"), 20

    def client():
        with Pipe(shop.server.public_port, source) as pipe:
            while time.monotonic() < ends_at:
                pipe.send(ask * batch)
                passed.extend(json.loads(body)["now_ms"] for status, body in pipe.receive(batch) if status == 200)
    clients = [threading.Thread(target=client) for _ in range(connections)]
    for thread in clients:
        thread.start()
    for thread in clients:
        thread.join()
    return sorted(passed)


def test_37_limits_at_their_edge(serving):
    # An answer says when it was written: a thread that was held up in between wrote it later than it let the request in.
    limit, seconds, late_ms = 3, 3, 100
    with serving(DOORBUSTER_LIMITS__ADDRESS_PER_SECOND=str(limit),
                 DOORBUSTER_LIMITS__ADDRESS_POLICY="sliding_window",
                 DOORBUSTER_LIMITS__BUYER_PER_MINUTE=str(limit)) as shop:
        scene = Scene(shop)
        with Pipe(shop.server.public_port, "127.0.0.2") as pipe:
            pipe.send(get("/v1/time") * 20)
            assert [status for status, _ in pipe.receive(20)] == [200] * limit + [429] * 17
        passed = flood(shop, seconds, "127.0.0.3")
        for first, beyond in zip(passed, passed[limit:]):
            assert beyond - first >= 1000 - late_ms, (passed, "four in a second")
        assert len(passed) > limit, "when a second is over, the next may come"
        # Per buyer, on purchases: refused ones count, too, or a loser could ask for ever.
        sale = scene.sale(items=[item_terms(units_total=1)])
        scene.honest(sale, shop.buyer(source="127.0.0.4"))
        name = shop.buyer().name
        answers = [buy(shop.buyer(name, source=f"127.0.1.{number + 1}"), sale) for number in range(20)]
        assert [answer.code for answer in answers] == ["sold_out"] * limit + ["rate_limited"] * 17
        for answer in answers[limit:]:
            assert 1 <= int(answer.headers["retry-after"]) <= 60
            assert "ratelimit" in answer.headers and "ratelimit-policy" in answer.headers
        # And so does what cannot be a purchase: its faults are told to who may ask, nobody else.
        name, asked = shop.buyer().name, f"/v1/sales/{sale}/purchases"
        answers = [shop.buyer(name, source=f"127.0.2.{number + 1}").post(asked, b'{"item":"phone","price":1}')
                   for number in range(6)]
        assert [answer.code for answer in answers] == ["invalid"] * limit + ["rate_limited"] * 3
        assert shop.buyer(name, source="127.0.2.9").post("/v1/sales/none/purchases", b"{}").code == "rate_limited"
        scene.audit()

    rate, burst = 50, 20
    with serving(DOORBUSTER_LIMITS__ADDRESS_PER_SECOND=str(rate), DOORBUSTER_LIMITS__ADDRESS_BURST=str(burst)) as shop:
        passed = flood(shop, seconds, "127.0.0.2")
        for begin in range(len(passed)):
            for end in range(begin, len(passed)):
                span_s = (passed[end] - passed[begin] + late_ms) / 1000
                assert end - begin + 1 <= burst + rate * span_s + 1, (begin, end, span_s)
        assert len(passed) > burst, "what was used up comes back"
        scene = Scene(shop)
        scene.honest(scene.sale(), shop.buyer(source="127.0.0.3"))
        scene.audit()


def numbered(number: int) -> str:
    return f"{11 + (number >> 24)}.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"


def test_39_two_million_addresses(serving):
    addresses, batch, keys, rate, burst = 2_000_000, 2_000, 1_024, 1, 20
    victim, friend, newcomer = ({"X-Forwarded-For": f"203.0.113.{number}"} for number in (77, 78, 79))
    with serving(DOORBUSTER_LIMITS__ADDRESS_PER_SECOND=str(rate), DOORBUSTER_LIMITS__ADDRESS_BURST=str(burst),
                 DOORBUSTER_LIMITS__KEYS_MAX=str(keys), DOORBUSTER_SERVER__TRUSTED_PROXIES="127.0.0.1") as shop:
        scene = Scene(shop)
        sale = scene.sale(items=[item_terms(units_total=100)])
        assert shop.admin.put(f"/v1/lists/allow/address/{friend['X-Forwarded-For']}").status == 200
        scene.honest(sale, shop.buyer(source="127.0.0.2"))
        ask = {name: get("/v1/time", f"X-Forwarded-For: {said['X-Forwarded-For']}")
               for name, said in (("victim", victim), ("friend", friend))}
        began, victim_passed = time.monotonic(), 0
        with Pipe(shop.server.public_port) as pipe:
            pipe.send(ask["victim"] * burst)
            victim_passed += [status for status, _ in pipe.receive(burst)].count(200)
            assert victim_passed == burst, "nobody else is there yet"
            # Twice as many as the table tells apart, each of them busy for twenty seconds: it is full.
            for number in range(2 * keys):
                pipe.send(forwarded(numbered(number)) * burst)
                pipe.receive(burst)
            full = shop.figure("doorbuster_limits_overflowed_total")
            assert full > 0, "those beyond share what is left"
            before_bytes = memory_bytes(shop)
            for start in range(0, addresses, batch):
                pipe.send(b"".join(
                    b"GET /v1/time HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: %s\r\n\r\n" % numbered(number).encode()
                    for number in range(start, start + batch)) + ask["victim"] * 10 + ask["friend"] * 10)
                statuses = [status for status, _ in pipe.receive(batch + 20)]
                victim_passed += statuses[-20:-10].count(200)
                assert statuses[-10:] == [200] * 10, "who is on the list is let in, whoever else comes"
            most = burst + rate * (time.monotonic() - began) + 1
        assert victim_passed <= most, "the flood reset nobody's limit"
        assert shop.figure("doorbuster_limits_overflowed_total") > full
        assert memory_bytes(shop) - before_bytes < 4 << 20, "two million addresses take no more room than two thousand"
        scene.bought(sale, shop.buyer().post(f"/v1/sales/{sale}/purchases", {"item": "phone"}, headers=friend))
        stranger = shop.buyer()
        answer = eventually("an honest newcomer is let in when the flood is over", lambda: next(
            (a for a in [stranger.post(f"/v1/sales/{sale}/purchases", {"item": "phone"}, headers=newcomer)]
             if a.status != 429), None))
        scene.bought(sale, answer)
        scene.audit()

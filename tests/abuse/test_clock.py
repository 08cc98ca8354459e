"""The server's own clock, set back and forward in the middle of a sale."""
import datetime

import pytest

from lib.shop import buy, eventually, ordered
from lib.skewed import SkewedClock


@pytest.fixture(scope="module")
def clock(tmp_path_factory):
    return SkewedClock(tmp_path_factory.mktemp("clock"))


@pytest.fixture(scope="module")
def settings(clock):
    return clock.settings()


def now(shop) -> datetime.datetime:
    """The least that any server shows: where none runs backwards, this does not either."""
    shown = [shop.anyone.get("/v1/time").json["now"] for _ in range(shop.server.gates)]  # asked in turn
    return min(datetime.datetime.fromisoformat(one.replace("Z", "+00:00")) for one in shown)


def test_31_the_clock_is_set_back_and_forward_during_a_sale(shop, scene, clock):
    sale, quick = scene.sale(payment_window_s=900), scene.sale(payment_window_s=5)
    alice, bob = shop.buyer(), shop.buyer()
    order = ordered(alice, scene.bought(sale, buy(alice, sale, key="k")))["order"]["id"]
    before = now(shop)

    clock.set(-7200)
    assert now(shop) >= before, "time does not run backwards"
    assert shop.anyone.get(f"/v1/sales/{sale}").json["state"] == "open"
    scene.bought(sale, buy(bob, sale, key="k"))  # an honest buyer beside it: the sale did not un-open
    dave = shop.buyer()
    waiting = ordered(dave, scene.bought(quick, buy(dave, quick, key="k")))["order"]
    eventually("an order expires although the clock is behind", lambda: dave.get(
        f"/v1/orders/{waiting['id']}").json["state"] == "expired")
    scene.released(waiting)

    clock.set(0)
    eventually("the clock has caught up", lambda: now(shop) > before)
    carol = shop.buyer()
    hasty = ordered(carol, scene.bought(quick, buy(carol, quick, key="k")))["order"]
    eventually("an order of the quick sale expires in its own time", lambda: carol.get(
        f"/v1/orders/{hasty['id']}").json["state"] == "expired")
    scene.released(hasty)
    assert alice.get(f"/v1/orders/{order}").json["state"] == "pending_payment", "nobody else's time was over"

    clock.set(+1200)
    assert now(shop) > before + datetime.timedelta(seconds=1000), "the step has reached the server"
    # Sweeps go on: what is done on the thread that sweeps has seen at least one since the step.
    for _ in range(3):
        shop.restock(sale, 1)
    assert alice.get(f"/v1/orders/{order}").json["state"] == "pending_payment", "its quarter of an hour is not over"
    erin = shop.buyer()
    made_since = ordered(erin, scene.bought(quick, buy(erin, quick, key="k")))["order"]
    eventually("an order made after the step expires in its own time", lambda: erin.get(
        f"/v1/orders/{made_since['id']}").json["state"] == "expired")
    scene.released(made_since)
    assert alice.post(f"/v1/orders/{order}/cancel").status == 200
    scene.released(alice.get(f"/v1/orders/{order}").json)

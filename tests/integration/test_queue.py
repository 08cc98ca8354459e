"""Those who wait for the book: how many may, for how long, and what the server leaves out meanwhile."""
from concurrent.futures import ThreadPoolExecutor

from lib.shop import buy, eventually, item_terms, ordered, reloaded

# Only the queue counts: how late a busy machine runs its threads does not.
DETECTS = "[overload]\ndetect = true\nqueue_delay_ms_max = 1\ngate_delay_ms_max = 10000\n"


def paced(per_second: int, wait_ms_max: int = 60_000) -> str:
    return f"[shard]\nrate_per_second_max = {per_second}\nwait_ms_max = {wait_ms_max}\n"


def rush(shop, sale: str, crowd: int, meanwhile=lambda: None) -> list:
    """So many buyers at once, each with what it heard."""
    def one(buyer) -> tuple:
        return buyer, buy(buyer, sale)
    with ThreadPoolExecutor(crowd) as pool:
        heard = [pool.submit(one, shop.buyer()) for _ in range(crowd)]
        meanwhile()
        return [future.result() for future in heard]


def settled(shop, sale: str, heard: list) -> list:
    """Whoever was accepted has a unit and an order, and nobody else has; the codes of those who were not."""
    accepted = [(buyer, answer) for buyer, answer in heard if answer.status == 202]
    for buyer, answer in accepted:
        ordered(buyer, answer.json["id"])
    shop.stock_becomes(sale, units_held=len(accepted))
    for _, answer in heard:
        assert answer.status != 503 or int(answer.headers["retry-after"]) >= 1
    return [answer.code for _, answer in heard if answer.status != 202]


def test_more_than_can_be_served_are_told_so_at_once(configured):
    shop = configured(paced(1), DOORBUSTER_SHARD__WAIT_MS_MAX=None)
    sale = shop.open_sale(items=[item_terms(units_total=3)])

    def let_go():
        # With one decision a second, the fifth finds three waiting for three units.
        eventually("a crowd is told", lambda: shop.figure("doorbuster_refused_total", stage="crowd") > 0)
        shop.write(paced(0))
        assert reloaded(shop) == (["shard.rate_per_second_max"], [])
    codes = settled(shop, sale, rush(shop, sale, 8, let_go))
    assert len(codes) == 5, "every unit is sold, and none twice"
    assert "crowded" in codes and set(codes) <= {"crowded", "sold_out"}, codes


def test_who_would_wait_too_long_is_told_so_at_once(configured):
    shop = configured(paced(1, 3_000), DOORBUSTER_SHARD__WAIT_MS_MAX=None)
    sale = shop.open_sale(items=[item_terms(units_total=100)])

    def let_go():
        eventually("somebody would wait too long", lambda: shop.figure("doorbuster_refused_total", stage="queue") > 0)
        shop.write(paced(0))
        assert set(reloaded(shop)[0]) == {"shard.wait_ms_max", "shard.rate_per_second_max"}
    heard = rush(shop, sale, 20, let_go)
    codes = settled(shop, sale, heard)
    assert set(codes) == {"overloaded"}, codes
    assert settled(shop, sale, heard + rush(shop, sale, 20)) == codes, "now there is no pace to wait for"


def test_a_queue_that_stays_is_overload_and_it_passes_by_itself(configured):
    shop = configured(DETECTS + paced(1), DOORBUSTER_SHARD__WAIT_MS_MAX=None, DOORBUSTER_OVERLOAD__DETECT=None,
                      DOORBUSTER_SHARD__BATCH_MAX="1")
    sale = shop.open_sale(items=[item_terms(units_total=100)])

    def level() -> str:
        return shop.admin.get("/v1/level").json["level"]
    assert (level(), shop.anyone.get("/v1/sales").status) == ("normal", 200)

    def watch():
        eventually("browsing is left out", lambda: level() != "normal")
        eventually("only purchases are served", lambda: shop.anyone.get("/v1/sales").code == "overloaded")
        shop.write(DETECTS + paced(0))
        assert reloaded(shop) == (["shard.rate_per_second_max"], [])
    heard = rush(shop, sale, 50, watch)
    eventually("all is served again", lambda: level() == "normal" and shop.anyone.get("/v1/sales").status == 200)
    assert settled(shop, sale, heard) == [], "nobody was turned away, and nobody lost"

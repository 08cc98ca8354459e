"""Purchase tokens: used twice, by a crowd, elsewhere, by somebody else, out of their time."""
from concurrent.futures import ThreadPoolExecutor

import pytest

from forge import TokenForge
from lib import checks
from lib.shop import buy, item_terms, ordered

CROWD = 100
SECRET = "purchase-tokens-are-signed-with-this-0000"


@pytest.fixture(scope="module")
def settings() -> dict:
    return {"DOORBUSTER_TOKENS__SECRET": SECRET, "DOORBUSTER_RISK__STRIKES_SLOW": "1000",
            "DOORBUSTER_RISK__STRIKES_BAR": "1000"}


def checked_sale(scene, **terms) -> str:
    return scene.sale(human_check="pow", pow_number_max=1000, **terms)


def control(shop, scene, sale: str, item: str = "phone") -> None:
    buyer = shop.buyer()
    scene.bought(sale, buy(buyer, sale, item, token=checks.token_for(buyer, sale, item)), item)


def refused(answer, code: str = "token_invalid") -> None:
    assert (answer.status, answer.code) == (403, code), answer.body


def test_01_a_purchase_token_replayed(shop, scene):
    sale, mallory = checked_sale(scene, items=[item_terms(units_total=2, units_per_buyer_max=2)]), shop.buyer()
    token = checks.token_for(mallory, sale)
    first = scene.bought(sale, buy(mallory, sale, token=token))
    for _ in range(5):
        assert scene.bought(sale, buy(mallory, sale, token=token)) == first
    order = ordered(mallory, first)["order"]["id"]
    control(shop, scene, sale)
    assert scene.bought(sale, buy(shop.buyer(mallory.name), sale, token=token)) == first, "after the sell-out, too"
    shop.act(sale, "close")
    assert scene.bought(sale, buy(mallory, sale, token=token)) == first, "and after the end"
    assert [entry["id"] for entry in mallory.get("/v1/orders").json["orders"]] == [order]


def test_02_one_token_used_by_a_hundred_at_once(shop, scene):
    sale, mallory = checked_sale(scene, items=[item_terms(units_total=2 * CROWD, units_per_buyer_max=10)]), shop.buyer()
    token = checks.token_for(mallory, sale)
    tabs = [shop.buyer(mallory.name) for _ in range(CROWD)]
    with ThreadPoolExecutor(CROWD) as pool:
        answers = list(pool.map(lambda tab: buy(tab, sale, token=token), tabs))
    assert len({scene.bought(sale, answer) for answer in answers}) == 1
    control(shop, scene, sale)


def test_03_a_token_of_another_item_sale_or_buyer(shop, scene):
    items = [item_terms("phone"), item_terms("watch")]
    sale, other_sale = checked_sale(scene, items=items), checked_sale(scene, items=items)
    alice, mallory = shop.buyer(), shop.buyer()
    token = checks.token_for(alice, sale)
    refused(buy(alice, sale, "watch", token=token))
    refused(buy(alice, other_sale, token=token))
    refused(buy(mallory, sale, token=token))
    refused(buy(mallory, sale), "token_required")
    refused(buy(mallory, sale, key="a-key-is-no-token"), "token_required")
    for spoilt in ("", "x", token[:-1], token + "A", token[:-1] + ("A" if token[-1] != "A" else "B"), token.swapcase(),
                   "A" * len(token), "A" * 4_000, shop.server.admin_key):
        answer = buy(mallory, sale, token=spoilt)
        assert (answer.status, answer.code) in ((403, "token_invalid"), (422, "invalid")), spoilt
    scene.bought(sale, buy(alice, sale, token=token))
    control(shop, scene, sale, "watch")


def test_04_tokens_out_of_their_time(shop, scene):
    sale, alice, mallory = checked_sale(scene), shop.buyer(), shop.buyer()
    now_ms = shop.anyone.get("/v1/time").json["now_ms"]
    forge = TokenForge(SECRET)
    minute_ms = 60_000
    for issued_ms, expires_ms in ((now_ms - 20 * minute_ms, now_ms - 10 * minute_ms),  # long ago
                                  (now_ms - minute_ms, now_ms - 1),  # just now
                                  (now_ms + 35_000, now_ms + 10 * minute_ms),  # from the future
                                  (now_ms + 10 * minute_ms, now_ms - 10 * minute_ms)):
        refused(buy(mallory, sale, token=forge.mint(sale, "phone", mallory.name, issued_ms, expires_ms)))
    # The same hand makes tokens that count: it is the time that was refused.
    token = forge.mint(sale, "phone", alice.name, now_ms - 1_000, now_ms + minute_ms)
    scene.bought(sale, buy(alice, sale, token=token))
    refused(buy(mallory, sale, token=TokenForge("not-that-secret-but-as-long-as-it-00000").mint(
        sale, "phone", mallory.name, now_ms - 1_000, now_ms + minute_ms)))
    control(shop, scene, sale)

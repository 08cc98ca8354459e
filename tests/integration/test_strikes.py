"""Buyers who keep failing: slowed, then barred, while everybody else goes on."""
import pytest

from lib import checks
from lib.server import Server
from lib.shop import Shop, buy


@pytest.fixture
def strict_shop(contract, tmp_path):
    """Two strikes slow, four bar, and nothing is forgotten while a test runs."""
    with Server(tmp_path / "shop", DOORBUSTER_RISK__STRIKES_SLOW="2", DOORBUSTER_RISK__STRIKES_BAR="4",
                DOORBUSTER_RISK__STRIKES_FORGET_S="3600", DOORBUSTER_RISK__SLOW_EVERY_S="3600") as server:
        shop = Shop(server, contract).start()
        yield shop
        shop.close()
        assert server.stop() == 0, server.said()


def test_failed_checks_and_refused_tokens_slow_and_then_bar(strict_shop):
    shop = strict_shop
    sale, plain = shop.open_sale(human_check="pow", pow_number_max=1000), shop.open_sale()
    mallory, alice = shop.buyer(), shop.buyer()
    for _ in range(2):
        assert checks.answered(mallory, sale, "x").code == "check_failed"
    assert buy(mallory, plain).status == 202, "a slowed buyer may try now and then"
    slowed = buy(mallory, plain, key="another")
    assert (slowed.status, slowed.code) == (429, "rate_limited")
    assert int(slowed.headers["retry-after"]) >= 1
    for _ in range(2):
        assert buy(mallory, sale, token="x" * 68).code == "token_invalid"
    for answer in (mallory.get(f"/v1/sales/{sale}/challenges"), checks.answered(mallory, sale, "x"),
                   buy(mallory, plain, key="yet-another")):
        assert (answer.status, answer.code) == (403, "blocked")
        assert int(answer.headers["retry-after"]) >= 1, "whoever is barred is told until when, wherever it asks"
    assert buy(alice, sale, token=checks.token_for(alice, sale)).status == 202, "nobody else is meant"
    assert shop.admin.put(f"/v1/lists/allow/buyer/{mallory.name}").status == 200
    assert buy(mallory, sale, token=checks.token_for(mallory, sale)).status == 202, "the operator may forgive"


def test_an_answer_sent_again_is_no_strike_and_a_wrong_one_is(strict_shop):
    shop = strict_shop
    sale, plain = shop.open_sale(human_check="pow", pow_number_max=1000), shop.open_sale()
    alice, mallory = shop.buyer(), shop.buyer()
    challenge = checks.ask(alice, sale)
    solved = checks.payload(challenge, checks.solve(challenge))
    first = checks.answered(alice, sale, solved)
    assert first.status == 200, first.body
    for _ in range(6):  # a client that lost the answer, or a button pressed again
        assert checks.answered(alice, sale, solved).code == "check_failed"
    assert [buy(alice, plain, key=key).status for key in ("one", "two")] == [202, 409], "not slowed"
    assert buy(alice, sale, token=first.json["token"]).status == 202
    for _ in range(4):
        assert checks.answered(mallory, sale, "x").code == "check_failed"
    assert buy(mallory, plain).code == "blocked"

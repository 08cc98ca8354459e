"""Checks reused, guessed, shared, stolen, spliced and hoarded."""
import base64
import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from lib import checks
from lib.shop import buy, instant

CROWD = 100


@pytest.fixture(scope="module")
def settings() -> dict:
    # Strikes are another case's: here every attempt is judged by itself.
    return {"DOORBUSTER_RISK__STRIKES_SLOW": "1000", "DOORBUSTER_RISK__STRIKES_BAR": "1000"}


def checked_sale(scene, state: str = "open", kind: str = "pow", **terms) -> str:
    return scene.sale(state, human_check=kind, pow_number_max=1000, **terms)


def failed(answer) -> None:
    assert (answer.status, answer.code) == (403, "check_failed"), answer.body


def control(shop, scene, sale: str, buyer=None) -> None:
    """Somebody who passes the check as one should gets a token, and a unit for it."""
    buyer = buyer or shop.buyer()
    scene.bought(sale, buy(buyer, sale, token=checks.token_for(buyer, sale)))


def test_11_a_solved_check_used_again(shop, scene):
    sale, mallory = checked_sale(scene), shop.buyer()
    challenge = checks.ask(mallory, sale)
    solved = checks.payload(challenge, checks.solve(challenge))
    first = checks.answered(mallory, sale, solved)
    assert first.status == 200, first.body
    for again in (solved, checks.payload(challenge, checks.solve(challenge), took=8), solved.rstrip("=")):
        failed(checks.answered(mallory, sale, again))
    scene.bought(sale, buy(mallory, sale, token=first.json["token"]))
    control(shop, scene, sale)


def test_12_a_wrong_guess_burns_the_check(shop, scene):
    sale, mallory = checked_sale(scene), shop.buyer()
    challenge = checks.ask(mallory, sale)
    number = checks.solve(challenge)
    failed(checks.answered(mallory, sale, checks.payload(challenge, (number + 1) % 1000)))
    failed(checks.answered(mallory, sale, checks.payload(challenge, number)))
    control(shop, scene, sale, mallory)  # a new check is a new chance

    pictured, guesser = checked_sale(scene, kind="image"), shop.buyer()
    image = checks.ask(guesser, pictured)
    assert image["kind"] == "image" and image["image"].startswith("data:image/png;base64,")
    for guess in ("AAAAAA", "aaaaaa", "", "A" * 6):
        failed_or_invalid = guesser.post(f"/v1/sales/{pictured}/tokens",
                                         {"item": "phone", "challenge": image["id"], "answer": guess})
        assert failed_or_invalid.status in (403, 422), failed_or_invalid.body
    control(shop, scene, pictured)


def test_13_one_check_used_in_parallel(shop, scene):
    sale, mallory = checked_sale(scene), shop.buyer()
    challenge = checks.ask(mallory, sale)
    solved = checks.payload(challenge, checks.solve(challenge))
    tabs = [shop.buyer(mallory.name) for _ in range(CROWD)]
    with ThreadPoolExecutor(CROWD) as pool:
        answers = list(pool.map(lambda tab: checks.answered(tab, sale, solved), tabs))
    tokens = [answer.json["token"] for answer in answers if answer.status == 200]
    assert len(tokens) == 1, [answer.status for answer in answers]
    for answer in answers:
        if answer.status != 200:
            failed(answer)
    scene.bought(sale, buy(mallory, sale, token=tokens[0]))
    control(shop, scene, sale)


def test_14_another_buyers_check(shop, scene):
    sale, alice, mallory = checked_sale(scene), shop.buyer(), shop.buyer()
    challenge = checks.ask(alice, sale)
    solved = checks.payload(challenge, checks.solve(challenge))
    failed(checks.answered(mallory, sale, solved))
    failed(checks.answered(mallory, sale, solved, challenge=challenge["id"]))
    answer = checks.answered(alice, sale, solved)
    assert answer.status == 200, "trying it did not burn it for its owner"
    assert buy(mallory, sale, token=answer.json["token"]).code == "token_invalid"
    scene.bought(sale, buy(alice, sale, token=answer.json["token"]))


def test_15_fields_spliced_between_checks(shop, scene):
    sale, other_sale, mallory = checked_sale(scene), checked_sale(scene), shop.buyer()
    challenge = number = 0
    while number < 100:  # one with digits to move
        challenge = checks.ask(mallory, sale)
        number = checks.solve(challenge)
    other = checks.ask(mallory, sale)
    digits, salt = str(number), challenge["salt"]
    assert not salt[-1].isalnum(), "a salt must end with a delimiter"
    name, _, parameters = salt.partition("?")
    spliced = [
        # Digits moved across the delimiter: the hash is still right.
        {"salt": salt + digits[0], "number": int(digits[1:])},
        {"salt": salt + digits[:-1], "number": int(digits[-1])},
        {"salt": salt + digits, "number": 0},
        {"salt": salt[:-1], "number": number},
        # Parameters changed, added, doubled, moved.
        {"salt": f"{name}?expires=99999999999&{parameters}", "number": number},
        {"salt": f"{salt}expires=99999999999&", "number": number},
        {"salt": salt.replace("expires=", "expires=9"), "number": number},
        {"salt": f"{name}?{parameters.replace('expires', 'Expires')}", "number": number},
        # Parts of another check.
        {"salt": other["salt"], "number": number},
        {"signature": other["signature"], "number": number},
        {"challenge": other["challenge"], "number": checks.solve(other)},
        {"challenge": other["challenge"], "salt": other["salt"], "number": checks.solve(other)},
        # Values that read like the right one.
        {"number": str(number)}, {"number": float(number) + 0.5}, {"number": -number}, {"number": number + 2 ** 64},
        {"number": None}, {"algorithm": "SHA-1", "number": number}, {"algorithm": "none", "number": number},
        {"signature": "", "number": number}, {"signature": challenge["signature"][:-2], "number": number},
        {"signature": challenge["signature"] + "00", "number": number},
    ]
    for changes in spliced:
        answer = checks.answered(mallory, sale, checks.payload(challenge, **{"number": number, **changes}))
        assert answer.status in (403, 422), (changes, answer.status, answer.body)
        assert answer.code in ("check_failed", "invalid"), changes
    twice = json.dumps({"number": number, "salt": salt})[:-1] + f',"number":{number}}}'
    for text in (b"{}", b"[]", b"\xff" * 30, twice.encode(), b"[" * 3_000):
        answer = checks.answered(mallory, sale, base64.b64encode(text).decode())
        assert answer.status in (403, 422), text[:40]
    fresh = checks.ask(mallory, sale)
    failed(checks.answered(mallory, other_sale, checks.payload(fresh, checks.solve(fresh))))
    control(shop, scene, sale, mallory)


def test_16_checks_hoarded_before_the_start(shop, scene):
    draft = scene.sale("draft", human_check="pow", pow_number_max=1000, opens_at=instant(3600), closes_at=instant(7200))
    ready = checked_sale(scene, "ready", opens_at=instant(3600), closes_at=instant(7200))
    mallory = shop.buyer()
    for method in ("GET", "POST"):
        early = mallory.request(method, f"/v1/sales/{draft}/challenges")
        assert (early.status, early.code) == (409, "not_open")
    assert checks.answered(mallory, draft, "x").code == "not_open"

    challenge = checks.ask(mallory, ready)
    now_ms = shop.anyone.get("/v1/time").json["now_ms"]
    expires_s = int(challenge["salt"].split("expires=")[1].split("&")[0])
    assert expires_s * 1000 <= now_ms + 310_000, "a check is for five minutes, however long the sale is away"
    token = checks.answered(mallory, ready, checks.payload(challenge, checks.solve(challenge)))
    assert token.status == 200, token.body
    assert buy(mallory, ready, token=token.json["token"]).code == "not_open"

    open_sale = checked_sale(scene)
    failed(checks.answered(mallory, open_sale, checks.payload(challenge, checks.solve(challenge))))
    ended = checked_sale(scene)
    kept = checks.ask(mallory, ended)
    shop.act(ended, "close")
    assert mallory.get(f"/v1/sales/{ended}/challenges").code == "ended"
    assert checks.answered(mallory, ended, checks.payload(kept, checks.solve(kept))).code == "ended"
    control(shop, scene, open_sale, mallory)
    shop.act(ready, "open")  # the operator's word: now the token that was come by honestly is worth something
    scene.bought(ready, buy(mallory, ready, token=token.json["token"]))

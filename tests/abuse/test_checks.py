"""Checks reused, guessed, shared, stolen, spliced and hoarded."""
import base64
import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from forge import ImageForge
from lib import checks
from lib.shop import buy, instant

CROWD = 100
SECRET = "the-secret-of-tokens-" + "s" * 32


@pytest.fixture(scope="module")
def settings() -> dict:
    # Strikes are another case's: here every attempt is judged by itself.
    return {"DOORBUSTER_TOKENS__SECRET": SECRET, "DOORBUSTER_RISK__STRIKES_SLOW": "1000", "DOORBUSTER_RISK__STRIKES_BAR": "1000"}


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
    image = checks.ask_for_picture(guesser, pictured)
    assert image["kind"] == "image" and image["image"].startswith("data:image/png;base64,")
    failed(checks.answered(guesser, pictured, "AAAAAA", challenge=image["id"]))  # no picture shows an A
    forge, now_ms = ImageForge(SECRET), shop.anyone.get("/v1/time").json["now_ms"]

    def drawn() -> str:
        return forge.make(pictured, guesser.name, "HKNPRT", now_ms + 60_000)
    for guess in ("HKNPRX", "HKNPR", "HKNPRTT", "", " "):
        check = drawn()
        failed(checks.answered(guesser, pictured, guess, challenge=check))
        failed(checks.answered(guesser, pictured, "HKNPRT", challenge=check))
    right = checks.answered(guesser, pictured, "hk nprt", challenge=drawn())  # who reads well is let in
    assert right.status == 200, right.body
    scene.bought(pictured, buy(guesser, pictured, token=right.json["token"]))
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


def splices(challenge: dict, number: int, other: dict) -> list:
    """What to change in the right answer to a check; `number` has digits to move, `other` is another check."""
    digits, salt, signature = str(number), challenge["salt"], challenge["signature"]
    name, _, parameters = salt.partition("?")
    return [
        # Digits moved across the delimiter: the hash is still right.
        {"salt": salt + digits[0], "number": int(digits[1:])},
        {"salt": salt + digits[:-1], "number": int(digits[-1])},
        {"salt": salt + digits, "number": 0},
        {"salt": salt[:-1]},
        # Parameters changed, added, doubled, moved.
        {"salt": f"{name}?expires=99999999999&{parameters}"},
        {"salt": f"{salt}expires=99999999999&"},
        {"salt": salt.replace("expires=", "expires=9")},
        {"salt": f"{name}?{parameters.replace('expires', 'Expires')}"},
        # Parts of another check.
        {"salt": other["salt"]},
        {"signature": other["signature"]},
        {"challenge": other["challenge"], "number": checks.solve(other)},
        {"challenge": other["challenge"], "salt": other["salt"], "number": checks.solve(other)},
        # Values that read like the right one.
        {"number": str(number)}, {"number": number + 0.5}, {"number": -number}, {"number": number + 2 ** 64},
        {"number": None}, {"algorithm": "SHA-1"}, {"algorithm": "none"}, {"algorithm": None},
        {"signature": ""}, {"signature": None}, {"signature": signature[:-2]}, {"signature": signature + "00"},
    ]


def solved_check(buyer, sale: str) -> tuple:
    """A check and its number, of three digits."""
    challenge, number = None, 0
    while number < 100:
        challenge = checks.ask(buyer, sale)
        number = checks.solve(challenge)
    return challenge, number


def test_15_fields_spliced_between_checks(shop, scene):
    sale, other_sale, mallory = checked_sale(scene), checked_sale(scene), shop.buyer()
    challenge, number = solved_check(mallory, sale)
    assert not challenge["salt"][-1].isalnum(), "a salt must end with a delimiter"
    ways = len(splices(challenge, number, challenge))
    for way in range(ways):  # each with a check of its own, that nothing has burned before
        challenge, number = solved_check(mallory, sale)
        changes = splices(challenge, number, checks.ask(mallory, sale))[way]
        failed(checks.answered(mallory, sale, checks.payload(challenge, number, **changes)))
    twice = json.dumps({"number": number, "salt": challenge["salt"]})[:-1] + f',"number":{number}}}'
    for text in (b"{}", b"[]", b"\xff" * 30, twice.encode(), b"[" * 700):
        failed(checks.answered(mallory, sale, base64.b64encode(text).decode()))
    assert checks.answered(mallory, sale, "x" * 2_000).pointers == {"/answer"}, "longer than any answer"
    challenge, number = solved_check(mallory, sale)
    failed(checks.answered(mallory, other_sale, checks.payload(challenge, number)))
    right = checks.answered(mallory, sale, checks.payload(challenge, number))
    assert right.status == 200, "in its own sale it is as good as ever"
    scene.bought(sale, buy(mallory, sale, token=right.json["token"]))
    control(shop, scene, sale)


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

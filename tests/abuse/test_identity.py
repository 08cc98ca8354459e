"""Tokens that prove nothing: forged, confused, out of date, too large; and guessing who and what exists."""
import hashlib
import hmac
import json
import socket
import time
import uuid

import pytest

from lib import jwt
from lib.keys import EcKey, EdKey, key_token, public_forms, signed
from lib.shop import buy, eventually, item_terms, ordered
from scene import wakeups

ISSUER, AUDIENCE = "https://shop.example", "doorbuster"


@pytest.fixture(scope="module")
def pairs() -> dict:
    return {"ec": EcKey("shop-ec-1"), "ed": EdKey("shop-ed-1")}


@pytest.fixture(scope="module")
def settings(pairs, tmp_path_factory) -> dict:
    file = tmp_path_factory.mktemp("keys") / "keys.json"
    file.write_text(json.dumps({"keys": [pair.jwk() for pair in pairs.values()]}))
    return {"DOORBUSTER_IDENTITY__KEYS_FILE": str(file), "DOORBUSTER_IDENTITY__ISSUER": ISSUER,
            "DOORBUSTER_IDENTITY__AUDIENCE": AUDIENCE}


def hs256(secret: bytes):
    return lambda message: hmac.new(secret, message, hashlib.sha256).digest()


def honest_token(shop, buyer: str, **claims) -> str:
    return jwt.mint(shop.server.hmac_secret, buyer, **{"iss": ISSUER, "aud": AUDIENCE, **claims})


def refused(shop, sale: str, token: str) -> None:
    """401 everywhere that a token counts, and nothing is said about why."""
    mallory = shop.public_with(token)
    for answer in (buy(mallory, sale), mallory.get("/v1/orders"), mallory.get(f"/v1/purchases/{'0' * 32}")):
        assert (answer.status, answer.code) == (401, "unauthenticated"), token
        assert set(answer.json) == {"type", "title", "status", "code"}


def control(shop, scene, sale: str, token: str = None) -> None:
    buyer = shop.public_with(token or honest_token(shop, f"alice-{time.monotonic_ns()}"))
    scene.bought(sale, buy(buyer, sale))


def test_05_no_algorithm_at_all(shop, scene):
    sale, token = scene.sale(), honest_token(shop, "mallory")
    payload, signature = token.split(".")[1:]
    for alg in ("none", "None", "NONE", "nOnE", "", None, 0, ["HS256"]):
        head = jwt.encode(json.dumps({"alg": alg, "typ": "JWT"}).encode())
        for end in ("", signature, jwt.encode(b"x")):
            refused(shop, sale, f"{head}.{payload}.{end}")
    refused(shop, sale, f"{jwt.encode(b'{}')}.{payload}.{signature}")
    control(shop, scene, sale)


def test_06_a_public_key_used_as_a_secret(shop, scene, pairs):
    sale, said = scene.sale(), {"iss": ISSUER, "aud": AUDIENCE}
    for pair in pairs.values():
        for secret in public_forms(pair):
            for header in ({"alg": "HS256", "typ": "JWT", "kid": pair.kid}, {"alg": "HS256", "typ": "JWT"},
                           {"alg": pair.alg, "typ": "JWT", "kid": pair.kid}):
                refused(shop, sale, signed(hs256(secret), header, "mallory", **said))
    # Each key signs as its own algorithm only: neither the secret as ES256, nor one pair under the other's name.
    secret = hs256(shop.server.hmac_secret.encode())
    refused(shop, sale, signed(secret, {"alg": "ES256", "typ": "JWT"}, "mallory", **said))
    refused(shop, sale, signed(secret, {"alg": "HS256", "typ": "JWT", "kid": pairs["ec"].kid}, "mallory", **said))
    for signer, named in ((pairs["ec"], pairs["ed"]), (pairs["ed"], pairs["ec"])):
        for alg in (signer.alg, named.alg):
            refused(shop, sale, signed(signer.sign, {"alg": alg, "typ": "JWT", "kid": named.kid}, "mallory", **said))
    refused(shop, sale, key_token(EcKey(pairs["ec"].kid), "mallory", **said))  # another's pair, our name
    for pair in pairs.values():
        control(shop, scene, sale, key_token(pair, f"alice-{pair.kid}", **said))
    control(shop, scene, sale)


def test_07_the_wrong_audience_issuer_type_or_time(shop, scene):
    sale, now = scene.sale(), int(time.time())
    for claims in ({"iss": "https://evil.example"}, {"iss": None}, {"iss": [ISSUER]}, {"iss": ISSUER + "/"},
                   {"aud": "another"}, {"aud": None}, {"aud": []}, {"aud": ["another"]}, {"aud": {AUDIENCE: 1}},
                   {"exp": now - 60}, {"exp": None}, {"exp": "9999999999"}, {"exp": 0}, {"exp": -1},
                   {"nbf": now + 60}, {"nbf": "0"}, {"iat": now + 60}, {"sub": None}, {"sub": ""}, {"sub": 7},
                   {"sub": "x" * 300}):
        refused(shop, sale, honest_token(shop, "mallory", **claims))
    for header in ({"alg": "HS256", "typ": "JOSE"}, {"alg": "HS256", "typ": "dpop+jwt"}, {"alg": "HS256", "typ": 1},
                   {"alg": "HS256", "typ": "JWT", "crit": ["exp"]}, {"alg": "HS512", "typ": "JWT"}):
        refused(shop, sale, honest_token(shop, "mallory", header=header))
    for number, claims in enumerate(({"aud": ["another", AUDIENCE]}, {"exp": now + 30, "nbf": now, "iat": now},
                                     {"nbf": now + 10}, {"header": {"alg": "HS256", "typ": "at+jwt"}},
                                     {"header": {"alg": "HS256"}})):
        control(shop, scene, sale, honest_token(shop, f"alice-{number}", **claims))


def test_08_a_key_name_that_is_a_path_a_query_or_an_address(shop, scene, pairs):
    sale, said = scene.sale(), {"iss": ISSUER, "aud": AUDIENCE}
    with socket.create_server(("127.0.0.1", 0)) as bait:
        address = f"http://127.0.0.1:{bait.getsockname()[1]}/keys.json"
        for kid in ("/dev/null", "../../../../dev/null", "../" * 20 + "etc/hostname", "keys.json",
                    "' OR '1'='1", "x' UNION SELECT 'secret'--", "1; DROP TABLE orders", address,
                    "shop-ec-1\0", "shop-ec-1 ", "SHOP-EC-1", "", "x" * 2_000, "%73hop-ec-1", "|id", "$(id)"):
            for secret in (b"", b"secret", shop.server.hmac_secret.encode()):
                refused(shop, sale, signed(hs256(secret), {"alg": "HS256", "typ": "JWT", "kid": kid}, "mallory", **said))
            refused(shop, sale, signed(pairs["ec"].sign, {"alg": "ES256", "typ": "JWT", "kid": kid}, "mallory", **said))
        for name in ("jku", "x5u"):
            stranger = EcKey("stranger")
            refused(shop, sale, signed(stranger.sign, {"alg": "ES256", "typ": "JWT", "kid": "stranger", name: address},
                                       "mallory", **said))
        stranger = EcKey("stranger")
        refused(shop, sale, signed(stranger.sign, {"alg": "ES256", "typ": "JWT", "jwk": stranger.jwk()}, "mallory", **said))
        bait.setblocking(False)
        with pytest.raises(BlockingIOError):  # nobody came to fetch anything
            bait.accept()
    control(shop, scene, sale, key_token(pairs["ec"], "alice-by-name", **said))


def test_09_tokens_too_large_or_too_deep(shop, scene):
    sale = scene.sale()
    deep = json.loads("[" * 100 + "]" * 100)
    for token in (honest_token(shop, "mallory", padding="x" * 5_000), honest_token(shop, "mallory", nested=deep),
                  "x" * 5_000, "." * 5_000, honest_token(shop, "mallory") + "A" * 5_000):
        answer = buy(shop.public_with(token), sale)
        assert (answer.status, answer.code) == (400, "malformed"), token[:80]
    # Before any crypto: whether the signature is right makes no difference.
    forged = jwt.mint("another-secret-that-is-long-enough-0000", "mallory", nested=deep)
    assert buy(shop.public_with(forged), sale).code == "malformed"
    control(shop, scene, sale, honest_token(shop, "alice-with-a-large-token", padding="x" * 2_000))


def test_10_guessing_buyers_and_orders(shop, scene):
    sale = scene.sale()
    alice = shop.public_with(honest_token(shop, "alice-guessed"))
    purchase = scene.bought(sale, buy(alice, sale))
    order = ordered(alice, purchase)["order"]["id"]
    mallory = shop.public_with(honest_token(shop, "mallory-guessing"))

    def seen(method, path):
        answer = mallory.request(method, path)
        return answer.status, answer.body, sorted((name, value) for name, value in answer.headers.items() if name != "date")
    for method, theirs, nobodys in (("GET", f"/v1/purchases/{purchase}", f"/v1/purchases/{purchase[::-1]}"),
                                    ("GET", f"/v1/orders/{order}", f"/v1/orders/{int(order) + 1}"),
                                    ("POST", f"/v1/orders/{order}/cancel", f"/v1/orders/{int(order) + 1}/cancel")):
        assert seen(method, theirs) == seen(method, nobodys), theirs
        assert seen(method, theirs)[0] == 404
    strangers = [shop.public_with(jwt.mint("another-secret-that-is-long-enough-0000", name, iss=ISSUER, aud=AUDIENCE))
                 for name in ("alice-guessed", "nobody")]
    known, unknown = (buy(stranger, sale) for stranger in strangers)
    assert (known.status, known.body) == (unknown.status, unknown.body) == (401, known.body)
    control(shop, scene, sale)


def test_10_a_guess_costs_the_same_whether_it_is_right_or_not(shop, scene):
    """Each is looked up once."""
    alice = shop.public_with(honest_token(shop, "alice-guessed"))
    mallory = shop.public_with(honest_token(shop, "mallory-guessing"))
    many = 20
    bulk = scene.sale(items=[item_terms(units_total=many, units_per_buyer_max=many)])
    bought = [scene.bought(bulk, buy(alice, bulk)) for _ in range(many)]
    orders = [ordered(alice, purchase)["order"]["id"] for purchase in bought]
    for theirs, nobodys in (([f"/v1/purchases/{purchase}" for purchase in bought],
                             [f"/v1/purchases/{uuid.uuid4().hex}" for _ in bought]),
                            ([f"/v1/orders/{order}" for order in orders],
                             [f"/v1/orders/{int(order) - (1 << 40)}" for order in orders])):
        counts = []
        for paths in (theirs, nobodys):
            before = wakeups(shop, "lookup")
            assert {mallory.get(path).status for path in paths} == {404}
            # Whoever looked the last one up goes back to waiting a moment after the answer.
            eventually("each is looked up", lambda: wakeups(shop, "lookup") - before >= many)
            counts.append(wakeups(shop, "lookup") - before)
        assert abs(counts[0] - counts[1]) <= many // 2, counts

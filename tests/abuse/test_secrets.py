"""What leaves the server beside its answers: log lines, metrics, error bodies, the process list, cookies."""
import re
from pathlib import Path
from urllib.parse import quote

import pytest

from lib import jwt
from lib.client import Client
from lib.dev import dev_shop
from lib.shop import buy, sale_terms
from wire import get, rejected

COOKIE, ORIGIN = "shop_session", "https://shop.example"
TOKENS_SECRET, TOKENS_SECRET_BEFORE = "tokens-secret-" + "t" * 32, "tokens-secret-before-" + "u" * 32
ESCAPE = "\x1b[2J\x1b]0;owned\x07"


@pytest.fixture(scope="module")
def settings() -> dict:
    return {"DOORBUSTER_IDENTITY__COOKIE": COOKIE, "DOORBUSTER_SERVER__ORIGINS": ORIGIN,
            "DOORBUSTER_TOKENS__SECRET": TOKENS_SECRET, "DOORBUSTER_TOKENS__SECRET_PREVIOUS": TOKENS_SECRET_BEFORE,
            "DOORBUSTER_LOG__LEVEL": "debug"}


def test_46_lines_and_escapes_in_names(shop, scene):
    line = "\n2026-01-01 error forged=1\r\n"
    for spoilt in (f"Phone{line}", f"Phone{ESCAPE}"):
        refused = shop.admin.post("/v1/sales", sale_terms(title=spoilt))
        assert (refused.status, refused.pointers) == (422, {"/title"})
    odd = "Phone\u2028\u202e"
    sale = scene.sale(title=odd)
    shop.act(sale, "pause")
    shop.act(sale, "resume")
    assert shop.admin.get(f"/v1/sales/{sale}").json["title"] == odd, "what was told is kept as it was told"
    for name in (f"mallory{line}", f"mallory{ESCAPE}", "mallory\0"):
        assert buy(shop.public_with(jwt.mint(shop.server.hmac_secret, name)), sale).status == 401
        for kind in ("address", "buyer"):
            assert shop.admin.put(f"/v1/lists/block/{kind}/{quote(name, safe='')}").status == 422
    stranger = "mallory\u2028\u202e"
    for change in (shop.admin.put, shop.admin.delete):
        assert change(f"/v1/lists/block/buyer/{quote(stranger, safe='')}").status == 200
    scene.honest(sale, shop.public_with(jwt.mint(shop.server.hmac_secret, stranger)))
    for path in (f"/v1/sales/{quote(line)}", f"/v1/orders/{quote(line)}", f"/{quote(ESCAPE)}?{quote(line)}"):
        assert shop.buyer().get(path).status in (400, 404)
    rejected(shop, get(f"/v1/sales/{ESCAPE}"), 400)
    shop.buyer().get("/v1/time", headers={"User-Agent": "x\u001b[31m", "X-Forwarded-For": "1.2.3.4\t\x1b[2J"})
    scene.honest(sale)
    said = shop.server.said()
    assert sale in said, "the sale's steps are told, so there was something to inject into"
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f\u2028\u202e]", said)
    assert not any(written.startswith("2026-01-01 error") for written in said.splitlines())


def test_49_secrets_where_they_do_not_belong(shop, scene):
    sale, alice, server = scene.sale(), shop.buyer(), shop.server
    checked = scene.sale(human_check="pow", pow_number_max=1000)
    secrets = [server.admin_key, server.hmac_secret, TOKENS_SECRET, TOKENS_SECRET_BEFORE, alice.bearer,
               alice.bearer.rsplit(".", 1)[1]]
    answers = [buy(alice, checked, token="x" * 68), alice.get("/v1/orders/1"), alice.post("/v1/nothing", {}),
               alice.post(f"/v1/sales/{sale}/purchases", b"{"), alice.get(f"/v1/sales/{checked}/challenges"),
               buy(shop.public_with(alice.bearer[:-2]), sale), shop.admin_with(server.admin_key[:-1]).get("/v1/sales"),
               shop.admin.get("/metrics"), shop.admin.get("/v1/lists"), shop.admin.get("/v1/level"),
               shop.admin.post("/v1/reload"), shop.admin.post("/v1/sales", {"admin_key": server.admin_key[:8]}),
               shop.anyone.get("/openapi.json"), shop.anyone.get("/")]
    scene.honest(sale, alice)
    process = Path(f"/proc/{server.process.pid}")
    seen = {"log": server.said(), "process list": (process / "cmdline").read_text(),
            "thread names": " ".join((task / "comm").read_text() for task in (process / "task").iterdir()),
            **{f"answer {number}": f"{answer.headers}{answer.body.decode()}" for number, answer in enumerate(answers)}}
    for where, text in seen.items():
        for secret in secrets:
            assert secret not in text, (where, secret)
            assert jwt.encode(secret.encode()) not in text, where
    assert "doorbuster" in seen["process list"] and "doorbuster_requests_total" in answers[7].body.decode()


def test_50_a_request_from_another_site(shop, scene):
    sale = scene.sale()

    def ask(buyer: str, origin=None, method: str = "POST", more: dict = None, path=f"/v1/sales/{sale}/purchases"):
        cookie = f"theme=dark; {COOKIE}={jwt.mint(shop.server.hmac_secret, buyer)}; other=1"
        headers = {"Cookie": cookie, "Origin": origin, **(more or {})}
        return shop.public_with(None).request(method, path, {"item": "phone"} if method == "POST" else None, headers)
    own = f"http://127.0.0.1:{shop.anyone.port}"  # where a new client asks first
    for origin in ("https://evil.example", "null", "http://shop.example", "https://shop.example.evil.example",
                   "https://shop.example:444", "https://evil.example https://shop.example", "", "HTTPS://SHOP.EXAMPLE/",
                   own + ".evil.example"):
        answer = ask("victim", origin)
        assert (answer.status, answer.code) == (403, "cross_site"), origin
    assert ask("victim").code == "cross_site", "a cookie alone, from nowhere, is no proof of a wish"
    for content_type in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
        answer = ask("victim", "https://evil.example", more={"Content-Type": content_type})
        assert answer.status in (403, 415), content_type
    assert ask("victim", "https://evil.example", "GET", path="/v1/orders").status in (200, 403), "reading changes nothing"
    assert "access-control-allow-origin" not in ask("victim", "https://evil.example").headers
    for answer in (ask("alice-from-the-shop", ORIGIN), ask("alice-from-our-own-page", own)):
        scene.bought(sale, answer)
    # A header that no other site can make a browser send needs no origin.
    scene.honest(sale, shop.buyer())
    for answer in (shop.anyone.get("/"), ask("carol", ORIGIN), shop.buyer().get("/v1/orders"), shop.anyone.get("/v1/sales")):
        assert "set-cookie" not in answer.headers, "the shop's cookie is the shop's to set"
        if answer.status == 202:
            scene.bought(sale, answer)


def test_50_the_one_cookie_that_is_set(tmp_path):
    """By the sign-in of a shop to try out, the only call that sets one."""
    with dev_shop(tmp_path, DOORBUSTER_IDENTITY__COOKIE=COOKIE) as port:
        signed_in = Client(port, "public").post("/dev/sign-in", {"buyer": "alice"})
        name, *attributes = signed_in.headers["set-cookie"].split("; ")
        assert name == f"{COOKIE}={signed_in.json['token']}"
        assert {"HttpOnly", "SameSite=Lax", "Path=/"} <= set(attributes)
        sale = Client(port, "public").get("/v1/sales").json["sales"][0]
        path, wish = f"/v1/sales/{sale['id']}/purchases", {"item": sale["items"][0]["id"]}
        for origin, crossed in (("https://evil.example", True), (f"http://127.0.0.1:{port}", False)):
            answer = Client(port, "public").post(path, wish, headers={"Cookie": name, "Origin": origin})
            assert (answer.code == "cross_site") == crossed, (origin, answer.body)

"""The shop's keys change while the server runs: from a file, from a URL. And the token in a cookie."""
import contextlib
import http.server
import json
import os
import threading
import time

import pytest

from lib import jwt
from lib.keys import EcKey, EdKey, key_token
from lib.server import Server
from lib.shop import Shop, buy, eventually

COOKIE, SHOP_SITE = "shop_session", "https://shop.example"


def jwks(*pairs) -> bytes:
    return json.dumps({"keys": [pair.jwk() for pair in pairs]}).encode()


class KeySite:
    """Where a shop publishes its keys: `status` and `body` are what the next fetch gets."""

    def __init__(self, body: bytes):
        self.status, self.body, self.fetches = 200, body, []
        site = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                status, body = site.status, site.body
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
                site.fetches.append(status)

            def log_message(self, *_):
                pass
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/keys.json"

    @contextlib.contextmanager
    def open(self):
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        try:
            yield self
        finally:
            self._server.shutdown()
            self._server.server_close()


def takes(shop, pair) -> bool:
    answer = shop.public_with(key_token(pair, "alice")).get("/v1/orders")
    assert answer.status in (200, 401), answer.body
    return answer.status == 200


@pytest.mark.parametrize("make", [EcKey, EdKey])
def test_a_keys_file_is_rotated_without_a_restart(own_shop, tmp_path, make):
    file, old, new = tmp_path / "keys.json", make("2026-11"), make("2026-12")

    def publish(*pairs):
        written = tmp_path / "keys.json.new"
        written.write_bytes(jwks(*pairs))
        os.replace(written, file)
    publish(old)
    # With public keys alone a server can check tokens and make none.
    own_shop.server.settings |= {"DOORBUSTER_IDENTITY__KEYS_FILE": str(file), "DOORBUSTER_IDENTITY__HMAC_SECRET": None}
    shop = own_shop.start()
    sale, alice = shop.open_sale(), shop.public_with(key_token(old, "alice"))
    bought = buy(alice, sale, key="k")
    assert bought.status == 202
    assert not takes(shop, new) and shop.buyer().get("/v1/orders").status == 401

    publish(old, new)
    eventually("the new key counts", lambda: takes(shop, new))
    assert takes(shop, old), "while both are published both count"
    publish(new)
    eventually("the old key no longer counts", lambda: not takes(shop, old))
    assert alice.get("/v1/orders").status == 401, "also for who was known a moment ago"
    again = shop.public_with(key_token(new, "alice"))
    assert buy(again, sale, key="k").json == bought.json, "the same buyer, whichever key says so"

    file.write_text("{")
    eventually("the fault is told", lambda: "cannot be read, the old ones stay" in shop.server.said())
    assert takes(shop, new)
    publish(old)
    eventually("the file is read again", lambda: takes(shop, old))


def test_a_key_url_is_fetched_again_and_a_failed_fetch_keeps_the_keys(own_shop):
    old, new = EcKey("2026-11"), EdKey("2026-12")
    with KeySite(jwks(old)).open() as site:
        own_shop.server.settings |= {"DOORBUSTER_IDENTITY__JWKS_URL": site.url,
                                     "DOORBUSTER_IDENTITY__JWKS_REFRESH_S": "1"}
        shop = own_shop.start()
        assert takes(shop, old) and not takes(shop, new)
        assert shop.buyer().get("/v1/orders").status == 200, "the secret is one more key"
        site.body = jwks(old, new)
        eventually("the new key counts", lambda: takes(shop, new))
        site.body = jwks(new)
        eventually("the old key no longer counts", lambda: not takes(shop, old))

        site.status = 500
        eventually("a fetch fails", lambda: 500 in site.fetches)
        eventually("it is told", lambda: "the answer has status 500" in shop.server.said())
        assert takes(shop, new)
        site.status, site.body = 200, b"<html>a captive portal</html>"
        told = len(shop.server.said())
        eventually("rubbish is told", lambda: "cannot be read" in shop.server.said()[told:])
        assert takes(shop, new)
        fetched, began = len(site.fetches), time.monotonic()
        for _ in range(20):
            takes(shop, EcKey("nobody-knows-it"))
        site.body = jwks(old)
        eventually("it recovers", lambda: takes(shop, old))
        by_the_clock = time.monotonic() - began + 1
        assert len(site.fetches) - fetched < by_the_clock + 10, "an unknown key makes nobody fetch"


def test_without_any_key_the_server_starts_when_its_url_does_not_answer(own_shop):
    pair = EcKey("2026-12")
    with KeySite(jwks(pair)).open() as site:
        site.status = 503
        own_shop.server.settings |= {"DOORBUSTER_IDENTITY__JWKS_URL": site.url,
                                     "DOORBUSTER_IDENTITY__JWKS_REFRESH_S": "1",
                                     "DOORBUSTER_IDENTITY__HMAC_SECRET": None}
        shop = own_shop.start()
        assert not takes(shop, pair), "nobody is let in meanwhile"
        site.status = 200
        eventually("the keys come", lambda: takes(shop, pair))


@pytest.fixture(scope="module")
def cookie_shop(contract, tmp_path_factory):
    with Server(tmp_path_factory.mktemp("shop"), DOORBUSTER_IDENTITY__COOKIE=COOKIE,
                DOORBUSTER_SERVER__ORIGINS=SHOP_SITE) as server:
        shop = Shop(server, contract).start()
        yield shop
        shop.close()
        assert server.stop() == 0, server.said()


def by_cookie(shop, method: str, path: str, body=None, buyer: str = "alice", **headers):
    crumb = f"theme=dark; {COOKIE}={jwt.mint(shop.server.hmac_secret, buyer)}; x=1"
    return shop.anyone.request(method, path, body=body, headers={"Cookie": crumb, **headers})


def test_a_cookie_counts_from_the_own_site_and_from_named_ones(cookie_shop):
    sale, own = cookie_shop.open_sale(), f"http://127.0.0.1:{cookie_shop.server.public_port}"
    path, body = f"/v1/sales/{sale}/purchases", {"item": "phone"}
    for number, origin in enumerate((own, SHOP_SITE)):
        answer = by_cookie(cookie_shop, "POST", path, body, f"buyer-{number}", Origin=origin)
        assert answer.status == 202, (origin, answer.body)
    for origin in (None, "null", "", "https://evil.example", "https://shop.example.evil.example",
                   "https://evil.example/https://shop.example", "http://shop.example", f"{own}.evil.example",
                   "https://shop.example:8443"):
        answer = by_cookie(cookie_shop, "POST", path, body, Origin=origin)
        assert (answer.status, answer.code) == (403, "cross_site"), origin
    assert cookie_shop.stock(sale)["units_held"] == 2


def test_reading_by_cookie_needs_no_origin_and_a_bearer_token_never_does(cookie_shop):
    sale = cookie_shop.open_sale()
    assert by_cookie(cookie_shop, "GET", "/v1/orders").status == 200
    assert by_cookie(cookie_shop, "GET", "/v1/orders", Origin="https://evil.example").status == 200
    assert buy(cookie_shop.buyer(), sale).status == 202
    bearer = jwt.mint(cookie_shop.server.hmac_secret, "bob")
    both = by_cookie(cookie_shop, "POST", f"/v1/sales/{sale}/purchases", {"item": "phone"},
                     Authorization=f"Bearer {bearer}")
    assert both.status == 202
    assert cookie_shop.buyer("bob").get(f"/v1/purchases/{both.json['id']}").status == 200, "the header says who"


def test_without_the_setting_a_cookie_is_nobody(shop):
    assert by_cookie(shop, "GET", "/v1/orders").code == "unauthenticated"

"""Calls from a page on another origin: allowed from the operator's list, refused plainly from anywhere else."""
import pytest

from lib import jwt
from lib.client import Client
from lib.shop import buy, eventually, instant

SITE = "https://shop.example"
EVIL = "https://evil.example"
COOKIE = "shop-session"


@pytest.fixture(scope="module")
def shop(contract, tmp_path_factory):
    from lib.server import Server
    from lib.shop import Shop
    with Server(tmp_path_factory.mktemp("cors"), DOORBUSTER_SERVER__ORIGINS=f"https://www.example, {SITE}",
                DOORBUSTER_IDENTITY__COOKIE=COOKIE) as server:
        shop = Shop(server, contract).start()
        yield shop
        shop.close()
        assert server.stop() == 0, server.said()


def preflight(shop, path: str, origin: str, method: str = "POST", **more):
    client = Client(shop.server.public_port, "public")
    try:
        return client.request("OPTIONS", path, headers={
            "Origin": origin, "Access-Control-Request-Method": method,
            "Access-Control-Request-Headers": "authorization,content-type,idempotency-key", **more})
    finally:
        client.close()


def vary(answer) -> set:
    return {part.strip() for part in answer.headers.get("vary", "").split(",")}


def may_read(answer, origin: str) -> bool:
    return (answer.headers.get("access-control-allow-origin") == origin
            and answer.headers.get("access-control-allow-credentials") == "true")


def test_a_preflight_of_a_known_site_is_answered_and_may_be_kept(shop):
    answer = preflight(shop, f"/v1/sales/{shop.open_sale()}/purchases", SITE)
    assert (answer.status, answer.body) == (204, b"")
    assert may_read(answer, SITE) and "Origin" in vary(answer)
    assert int(answer.headers["access-control-max-age"]) >= 600
    allowed = {name.strip().lower() for name in answer.headers["access-control-allow-headers"].split(",")}
    assert {"authorization", "content-type", "idempotency-key", "last-event-id"} <= allowed
    assert "POST" in answer.headers["access-control-allow-methods"]


def test_leave_for_a_purchase_can_be_had_before_the_start(shop):
    """By a HEAD that asks for nothing: what it needs leave for is what the purchase needs leave for."""
    sale = shop.create_sale(opens_at=instant(1200))
    path = f"/v1/sales/{sale}/purchases"
    assert preflight(shop, path, SITE, "HEAD").headers["access-control-allow-methods"] == \
        preflight(shop, path, SITE).headers["access-control-allow-methods"]
    answer = shop.anyone.request("HEAD", path, headers={"Origin": SITE, "Content-Type": "application/json"})
    assert (answer.status, answer.body) == (204, b"") and may_read(answer, SITE)
    assert shop.anyone.request("HEAD", "/v1/sales/no-such-sale/purchases").status == 404
    refused = shop.anyone.get(path)
    assert (refused.status, refused.headers["allow"]) == (405, "HEAD, POST")


@pytest.mark.parametrize("origin", [EVIL, "null", "https://shop.example.evil.example", "http://shop.example",
                                    "https://shop.example:444", "https://SHOP.example"])
def test_a_preflight_of_anybody_else_is_refused_plainly(shop, origin):
    answer = preflight(shop, f"/v1/sales/{shop.open_sale()}/purchases", origin)
    assert (answer.status, answer.code) == (403, "cross_site")
    assert not any(name.startswith("access-control") for name in answer.headers)
    assert "Origin" in vary(answer)


def test_options_that_is_no_preflight_is_a_method_that_is_not_there(shop):
    client = Client(shop.server.public_port, "public")
    answer = client.request("OPTIONS", "/v1/time", headers={"Origin": SITE})
    assert (answer.status, answer.headers["allow"]) == (405, "GET, HEAD")
    client.close()


def test_every_answer_can_be_read_by_a_known_site_refusals_too(shop):
    sale = shop.open_sale()
    buyer = shop.buyer()
    here = {"Origin": SITE}
    accepted = buyer.post(f"/v1/sales/{sale}/purchases", {"item": "phone"}, headers={**here, "Idempotency-Key": "k"})
    assert accepted.status == 202
    for answer in (accepted, shop.anyone.get("/v1/time", headers=here), shop.anyone.get(f"/v1/sales/{sale}", headers=here),
                   shop.anyone.get("/v1/orders", headers=here), shop.anyone.get("/nothing", headers=here),
                   buyer.get(f"/v1/purchases/{accepted.json['id']}", headers=here)):
        assert may_read(answer, SITE), answer
        assert "Origin" in vary(answer)
        exposed = {name.strip() for name in answer.headers["access-control-expose-headers"].split(",")}
        assert {"ETag", "Location", "RateLimit", "Retry-After"} <= exposed


def test_nobody_else_can_read_and_caches_are_told_so(shop):
    sale = shop.open_sale()
    for headers in ({}, {"Origin": EVIL}, {"Origin": "null"}):
        answer = shop.anyone.get(f"/v1/sales/{sale}", headers=headers)
        assert answer.status == 200
        assert not any(name.startswith("access-control") for name in answer.headers)
        assert "Origin" in vary(answer), "what is kept for one must not be shown to another"


def test_a_cookie_from_a_foreign_page_still_buys_nothing(shop):
    sale = shop.open_sale()
    cookie = f"{COOKIE}={jwt.mint(shop.server.hmac_secret, 'carol')}"
    refused = shop.anyone.post(f"/v1/sales/{sale}/purchases", {"item": "phone"}, headers={"Cookie": cookie, "Origin": EVIL})
    assert (refused.status, refused.code) == (403, "cross_site")
    bought = shop.anyone.post(f"/v1/sales/{sale}/purchases", {"item": "phone"}, headers={"Cookie": cookie, "Origin": SITE})
    assert bought.status == 202 and may_read(bought, SITE)


def test_an_event_stream_can_be_read_from_a_known_site(shop):
    sale, buyer = shop.open_sale(), shop.buyer()
    purchase = buy(buyer, sale).json["id"]
    import http.client
    connection = http.client.HTTPConnection("127.0.0.1", shop.server.public_port, timeout=30)
    connection.request("GET", f"/v1/purchases/{purchase}/events",
                       headers={"Authorization": f"Bearer {buyer.bearer}", "Origin": SITE})
    answer = connection.getresponse()
    assert answer.status == 200 and answer.getheader("access-control-allow-origin") == SITE
    connection.close()


def test_preflights_count_against_the_limits(own_shop):
    own_shop.server.settings.update(DOORBUSTER_LIMITS__ADDRESS_PER_SECOND="1", DOORBUSTER_LIMITS__ADDRESS_BURST="3",
                                    DOORBUSTER_SERVER__ORIGINS=SITE)
    shop = own_shop.start()
    answers = [preflight(shop, "/v1/time", SITE, "GET") for _ in range(8)]
    limited = [answer for answer in answers if answer.status == 429]
    assert limited and may_read(limited[0], SITE) and "ratelimit" in limited[0].headers
    assert answers[0].status == 204


def test_without_a_list_nobody_is_told_anything(own_shop):
    shop = own_shop.start()
    assert preflight(shop, "/v1/time", SITE, "GET").code == "cross_site"
    answer = shop.anyone.get("/v1/time", headers={"Origin": SITE})
    assert not any(name.startswith("access-control") for name in answer.headers) and "vary" not in answer.headers


def test_the_list_changes_while_the_server_runs(own_shop):
    file = own_shop.server.folder / "doorbuster.toml"
    own_shop.server.folder.mkdir(parents=True, exist_ok=True)
    file.write_text('[server]\norigins = ""\n')
    shop = own_shop.start()
    assert preflight(shop, "/v1/time", SITE, "GET").status == 403
    file.write_text(f'[server]\norigins = "{SITE}"\n')
    assert shop.admin.post("/v1/reload").status == 200
    eventually("every gate knows the site", lambda: all(
        preflight(shop, "/v1/time", SITE, "GET").status == 204 for _ in range(8)))

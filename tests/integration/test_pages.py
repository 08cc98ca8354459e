"""The buyers' pages as the gate serves them: bytes, headers, encodings, and what nobody can smuggle in."""
import base64
import gzip
import hashlib
import html
import json
import re

import pytest

from lib.shop import eventually, item_terms

BYTES_MAX = 14_336


def page(shop, path: str, **headers):
    return shop.anyone.get(path, headers={"Accept": "text/html", **headers})


def in_brotli(shop, path: str):
    """Brotli takes its time and follows."""
    def probe():
        answer = page(shop, path, **{"Accept-Encoding": "br"})
        return answer if answer.headers.get("content-encoding") == "br" else None
    return eventually("the page is there in brotli", probe)


def data_in(text: str) -> dict:
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)[1])


def policy_of(answer) -> dict:
    parts = [part.split() for part in answer.headers["content-security-policy"].split(";")]
    return {part[0]: part[1:] for part in parts}


def hash_of(text: str) -> str:
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def test_a_sales_page_carries_the_sale_as_the_interface_shows_it(shop):
    sale = shop.open_sale(human_check="pow", start_jitter_ms=250)
    answer = page(shop, f"/sales/{sale}")
    assert (answer.status, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
    data = data_in(answer.body.decode())
    assert data["sale"] == shop.anyone.get(f"/v1/sales/{sale}").json
    assert data["sale"]["start_jitter_ms"] == 250
    assert (data["page"], data["api"], data["dev"], data["cooldown_ms"]) == ("sale", "", False, 5000)
    assert data["languages"] == ["en", "zh-Hans", "zh-Hant"]
    assert data["links"] == {"sales": "/", "orders": "/orders", "sale": "/sales/{sale}"}


def test_the_whole_page_fits_into_the_first_packets(shop):
    path = f"/sales/{shop.open_sale(human_check='pow')}"
    packed = page(shop, path, **{"Accept-Encoding": "gzip"})
    assert packed.headers["content-encoding"] == "gzip"
    assert len(packed.body) <= BYTES_MAX
    assert gzip.decompress(packed.body) == page(shop, path).body
    assert len(in_brotli(shop, path).body) <= min(BYTES_MAX, len(packed.body))


@pytest.mark.parametrize("path", ["/", "/orders", "/sales/{sale}"])
def test_what_runs_and_paints_is_named_by_its_hash_and_nothing_else_may(shop, path):
    answer = page(shop, path.format(sale=shop.open_sale()))
    text, policy = answer.body.decode(), policy_of(answer)
    scripts = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    styles = re.findall(r"<style>(.*?)</style>", text, re.DOTALL)
    assert policy["script-src"] == [hash_of(script) for script in scripts] and len(scripts) == 1
    assert policy["style-src"] == [hash_of(style) for style in styles] and len(styles) == 1
    assert policy["default-src"] == ["'none'"] and policy["connect-src"] == ["'self'"]
    assert policy["base-uri"] == policy["frame-ancestors"] == ["'none'"]
    assert not re.search(r"\s(style|on[a-z]+)=", text.replace(scripts[0], "")), "nothing inline that no hash covers"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "same-origin"
    assert not re.search(r"(?:src|href)=[\"']?(?:https?:)?//", text), "nothing comes from elsewhere"


def test_no_title_and_no_name_gets_out_of_its_place(shop):
    evil = """</script><script>alert(1)</script><!-- "'> {{script}} </title></style>"""
    sale = shop.open_sale(title=evil, items=[item_terms(name=evil)])
    text = page(shop, f"/sales/{sale}").body.decode()
    assert "<script>alert" not in text
    assert data_in(text)["sale"]["title"] == data_in(text)["sale"]["items"][0]["name"] == evil
    assert html.unescape(re.search(r"<title>(.*?)</title>", text)[1]) == evil
    assert len(re.findall(r"<script[ >]", text)) == 2


@pytest.mark.parametrize("path", ["/sales/no-such-sale", "/no-such-page"])
@pytest.mark.parametrize("accept, kind", [
    ("text/html,application/xhtml+xml,*/*;q=0.8", "text/html; charset=utf-8"), ("application/json", None), ("*/*", None),
    ("text/html;q=0", None), ("", None)])
def test_what_is_not_there_is_a_page_for_those_who_read_pages(shop, path, accept, kind):
    answer = shop.anyone.get(path, headers={"Accept": accept})
    assert (answer.status, answer.headers["content-type"]) == (404, kind or "application/problem+json")
    assert answer.headers["cache-control"] == "no-store"
    if kind:
        assert 'href="/"' in answer.body.decode() and "script-src 'none'" in answer.headers["content-security-policy"]
    else:
        assert answer.json["code"] == "not_found"


def test_a_call_that_is_not_there_is_no_page(shop):
    for path in ("/v1/no-such-call", "/v1/sales/no-such-sale"):
        assert shop.anyone.get(path, headers={"Accept": "text/html"}).json["code"] == "not_found"


def test_a_repeat_costs_a_304_in_each_encoding(shop):
    path = f"/sales/{shop.open_sale()}"
    in_brotli(shop, path)
    tags = set()
    for encoding in ("br", "gzip", "identity"):
        first = page(shop, path, **{"Accept-Encoding": encoding})
        assert first.status == 200
        assert re.fullmatch(r"public, max-age=\d+, stale-while-revalidate=\d+", first.headers["cache-control"])
        assert "Accept-Encoding" in first.headers["vary"]
        again = page(shop, path, **{"Accept-Encoding": encoding, "If-None-Match": first.headers["etag"]})
        assert (again.status, again.body) == (304, b"")
        assert again.headers["etag"] == first.headers["etag"] and "Accept-Encoding" in again.headers["vary"]
        other = page(shop, path, **{"Accept-Encoding": encoding, "If-None-Match": '"another"'})
        assert other.status == 200
        tags.add(first.headers["etag"])
    assert len(tags) == 3, "two encodings never share a tag"


@pytest.mark.parametrize("accepts, encoding", [
    ("gzip, deflate, br", "br"), ("gzip;q=1.0, br;q=0", "gzip"), ("br;q=0, gzip;q=0", None), ("identity", None),
    ("*;q=0", None), ("*", "br"), ("gzip;q=0.5, br;q=0.4", "gzip"), ("GZip", "gzip"), ("deflate", None)])
def test_the_encoding_is_the_one_that_the_client_likes_best(shop, accepts, encoding):
    in_brotli(shop, "/orders")
    assert page(shop, "/orders", **{"Accept-Encoding": accepts}).headers.get("content-encoding") == encoding


def test_head_is_get_without_the_body(shop):
    path = f"/sales/{shop.open_sale()}"
    got = page(shop, path)
    head = shop.anyone.request("HEAD", path)
    assert (head.status, head.body, head.headers["content-length"]) == (200, b"", str(len(got.body)))
    assert head.headers["etag"] == got.headers["etag"]


def test_only_reading_is_allowed_and_an_unknown_sale_has_no_page(shop):
    for path in ("/", "/orders", f"/sales/{shop.open_sale()}"):
        refused = shop.anyone.post(path, {})
        assert (refused.status, refused.headers["allow"]) == (405, "GET, HEAD")
    assert shop.anyone.get("/sales/no-such-sale").code == "not_found"
    assert shop.anyone.get("/sales").code == "not_found"
    draft = shop.create_sale(state="draft")
    assert shop.anyone.get(f"/sales/{draft}").code == "not_found"


def test_who_heard_of_a_change_finds_it_on_the_page(shop):
    sale = shop.open_sale()
    path = f"/sales/{sale}"
    before = in_brotli(shop, path)
    shop.act(sale, "pause")
    after = page(shop, path)
    assert data_in(after.body.decode())["sale"]["state"] == "paused"
    assert in_brotli(shop, path).headers["etag"] != before.headers["etag"]
    answer = shop.admin.patch(path.replace("/sales", "/v1/sales"), {"title": "Another name"},
                              headers={"If-Match": shop.version_of(sale)})
    assert answer.status == 200, answer.body
    assert "<title>Another name</title>" in page(shop, path).body.decode()


def test_pages_are_there_again_after_a_restart(own_shop):
    shop = own_shop.start()
    path = f"/sales/{shop.open_sale()}"
    before = page(shop, path)
    assert shop.server.stop() == 0
    shop.restart()
    after = eventually("the page is there", lambda: (lambda a: a if a.status == 200 else None)(page(shop, path)))
    assert after.headers["etag"] == before.headers["etag"]


def test_a_full_house_still_shows_the_sale_and_a_closed_door_says_so(own_shop):
    shop = own_shop.start()
    path = f"/sales/{shop.open_sale()}"
    assert shop.admin.put("/v1/level", {"level": "purchase_only"}).status == 200
    assert page(shop, path).status == 200, "nobody buys without it"
    assert page(shop, "/").code == "overloaded"
    assert shop.admin.put("/v1/level", {"level": "closed"}).status == 200
    for closed in (page(shop, path), page(shop, "/"), page(shop, "/orders")):
        assert (closed.status, closed.headers["cache-control"]) == (503, "no-store")
        assert int(closed.headers["retry-after"]) >= 1
        text = closed.body.decode()
        assert "Closed for the moment" in text and "暂时关闭" in text and "暫時關閉" in text
        assert policy_of(closed)["script-src"] == ["'none'"]
        assert policy_of(closed)["style-src"] == [hash_of(re.search(r"<style>(.*?)</style>", text, re.DOTALL)[1])]


def test_pages_follow_the_configuration(own_shop):
    own_shop.server.settings.update(DOORBUSTER_PAGE__CACHE_S="7", DOORBUSTER_PAGE__STALE_S="11",
                                    DOORBUSTER_PAGE__COOLDOWN_MS="1234")
    shop = own_shop.start()
    answer = page(shop, "/orders")
    assert answer.headers["cache-control"] == "public, max-age=7, stale-while-revalidate=11"
    assert data_in(answer.body.decode())["cooldown_ms"] == 1234

"""How much a page may weigh and ask: a phone on a slow line sees the button light with the others."""
import re
import urllib.parse

import pytest

from lib.shop import eventually, instant

PAGE_BYTES_MAX = 14_336
REQUESTS_MAX = 5


@pytest.mark.parametrize("encoding", ["br", "gzip"])
def test_the_page_of_a_sale_fits_into_the_first_flight(shop, encoding):
    sale = shop.open_sale(human_check="image", title="Winter phone drop: the X-20 at two thirds")
    answer = shop.anyone.get(f"/sales/{sale}", headers={"Accept-Encoding": encoding})
    assert answer.headers["content-encoding"] == encoding
    assert len(answer.body) <= PAGE_BYTES_MAX, len(answer.body)


def test_a_page_brings_all_that_it_needs(shop):
    for path in ("/", f"/sales/{shop.open_sale()}", "/orders"):
        html = shop.anyone.get(path).body.decode()
        markup = re.sub(r"<(script|style)\b.*?</\1>", "", html, flags=re.DOTALL)
        loaded = re.findall(r"""<(?:link|script|img|iframe)[^>]*(?:src|href)=["']?([^"'\s>]+)""", markup)
        assert [one for one in loaded if not one.startswith("data:")] == [], path
        assert "style=" not in markup and not re.search(r"\son[a-z]+=", markup), "the policy would refuse it"


@pytest.mark.parametrize("check", ["none", "pow"])
def test_five_requests_before_the_start_and_one_at_the_press(shop, visits, check):
    sale, page = visits.before_start(f"thrifty-{check}", terms={"human_check": check, "pow_number_max": 2000})
    page.until("open")
    asked = page.requests()[1:]
    assert len(asked) <= REQUESTS_MAX, [(one["method"], one["url"]) for one in asked]
    page.click("#buy")
    page.until("reserved")
    after = [(one["method"], urllib.parse.urlsplit(one["url"]).path) for one in page.requests()[1 + len(asked):]]
    assert [path for method, path in after if method == "POST"] == [f"/v1/sales/{sale}/purchases"], after
    assert len(after) <= 3, after


def test_a_page_of_long_ago_asks_no_more_than_a_new_one(shop, visits):
    """Two samples of the time, then silence; the third is for the last minutes."""
    sale = shop.create_sale(opens_at=instant(7200), closes_at=instant(9000), warm_before_s=60)
    page = visits.sale(sale, "early-bird")
    page.until("upcoming")
    page.wait_true("return document.querySelector('#accuracy').textContent.includes('±')")
    first = page.text("#clock")
    page.wait_true("return document.querySelector('#clock').textContent.trim() !== argument", first)
    assert [urllib.parse.urlsplit(one["url"]).path for one in page.requests()[1:]] == ["/v1/time"] * 2


def test_headers_of_a_page(shop):
    sale = shop.open_sale()
    answer = shop.anyone.get(f"/sales/{sale}")
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy and "'sha256-" in policy
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    tag = answer.headers["etag"]
    again = shop.anyone.get(f"/sales/{sale}", headers={"If-None-Match": tag})
    assert (again.status, again.body) == (304, b"")
    shop.act(sale, "pause")
    eventually("a change is another page", lambda: shop.anyone.get(f"/sales/{sale}").headers["etag"] != tag)

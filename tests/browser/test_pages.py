"""The pages around the sale: the list of sales, my orders, the provider's page, the closed door."""
import json
import re

import pytest

from browser import LANGUAGES
from lib.shop import buy, eventually, instant, item_terms, ordered

EACH_LANGUAGE = pytest.mark.parametrize("language", LANGUAGES)


@EACH_LANGUAGE
def test_the_list_of_sales_leads_to_each(shop, visits, language):
    sales = {"open": shop.open_sale(title="Open now"),
             "upcoming": shop.create_sale(opens_at=instant(7200), closes_at=instant(9000))}
    page = visits.page(language)
    page.goto(f"{visits.origin}/")
    for sale in sales.values():
        page.wait(f'#sales > li a[href$="/sales/{sale}"]')
    page.look("sales")
    page.click(f'#sales > li a[href$="/sales/{sales["open"]}"]')
    page.expect(401)
    page.until("open", "sign_in")


def test_a_list_that_is_refused_says_why_and_is_asked_for_again(shop, visits):
    """No real server refuses it for good: what stands in here is a proxy in front of one."""
    sale = shop.open_sale()
    page = visits.page()
    page.expect(403)
    page.interfere("GET", "/v1/sales", {"status": 403, "headers": {"Content-Type": "application/problem+json"},
                                        "body": json.dumps({"title": "Not from here", "status": 403, "code": "blocked"})})
    page.goto(f"{visits.origin}/")
    page.check("failed", "sales-failed")
    assert "Not from here" in page.text("#status")
    page.wait(f'#sales > li a[href$="/sales/{sale}"]')
    assert page.text("#status") == ""


@EACH_LANGUAGE
def test_my_orders(shop, visits, language):
    buyer = shop.buyer(f"orders-{language}")
    page = visits.page(language)
    page.goto(f"{visits.origin}/orders#token={visits.token(buyer.name)}")
    page.wait("#orders")
    page.look("orders-none")
    for end in ("paid", "cancelled", "pending_payment"):
        sale = shop.open_sale(items=[item_terms(units_per_buyer_max=2)])
        quantity = 2 if end == "paid" else 1
        order = ordered(buyer, buy(buyer, sale, key="k", quantity=quantity).json["id"])["order"]["id"]
        if end == "paid":
            shop.provider.act(buyer.post(f"/v1/orders/{order}/payments").json["id"], "capture")
        if end == "cancelled":
            buyer.post(f"/v1/orders/{order}/cancel")
        eventually(f"it is {end}", lambda: buyer.get(f"/v1/orders/{order}").json["state"] == end)
    page("reload")
    for end in ("paid", "cancelled", "pending_payment"):
        page.wait(f'#orders > li[data-status="{end}"]')
    page.look("orders")
    assert page.evaluate("return document.querySelectorAll('#orders > li').length") == 3
    sums = page.evaluate("return [...document.querySelectorAll('#orders > li')].map((card) => card.innerText)"
                         ".filter((text) => text.includes('×'))")
    assert len(sums) == 1 and re.search(r"2 × (NT)?\$9,999 = (NT)?\$19,998", sums[0]), sums
    nobody = visits.page(language)
    nobody.expect(401)
    nobody.goto(f"{visits.origin}/orders")
    nobody.check("sign_in", "orders-sign_in")


@pytest.mark.parametrize("path", ["/sales/no-such-sale", "/no-such-page"])
def test_what_is_not_there_leads_to_what_is(shop, visits, path):
    """One page for everybody, in every language."""
    page = visits.page()
    page.expect(404)
    assert page.goto(f"{visits.origin}{path}")["status"] == 404
    page.look("missing")
    assert page.evaluate("return [...document.querySelectorAll('main p a')].map((one) => one.closest('[lang]').lang)") == \
        list(LANGUAGES)
    page.click("main a")
    page.until("sales")


@EACH_LANGUAGE
def test_the_chosen_language_goes_along_to_the_payment_and_can_be_changed_there(shop, visits, language):
    """The one of the switch, not the browser's own."""
    browsers = next(other for other in LANGUAGES if other != language)
    page = visits.sale(shop.open_sale(), f"switches-{language}", browsers)
    page.until("open")
    page("select", selector="#language", value=language)
    height = page.evaluate("return document.querySelector('header').offsetHeight")
    page.click("#buy")
    page.until("reserved")
    page.origins.add(shop.provider.url)
    page.click("#pay")
    page("wait_url", prefix=f"{shop.provider.url}/pay/")
    page.language = language
    page.look("pay-switched")
    assert page.evaluate("return document.querySelector('header').offsetHeight") == height, "nothing jumps on the way"
    for other in (*(one for one in LANGUAGES if one != language), language):
        page.click(f'header a[lang="{other}"]')
        page.wait(f'html[lang="{other}"]')
    amount = page.text("h1")
    assert amount in page.text('form[action*="/capture"] button')


def test_the_closed_door(shop, visits):
    """One page for everybody, in every language."""
    assert shop.admin.put("/v1/level", {"level": "closed"}).status == 200
    try:
        page = visits.page()
        page.expect(503)
        answer = page.goto(f"{visits.origin}/")
        assert answer["status"] == 503
        page.look("closed")
        assert page.evaluate("return [...document.querySelectorAll('main [lang]')].map((part) => part.lang)") == \
            ["zh-Hans", "zh-Hant"]
    finally:
        assert shop.admin.put("/v1/level", {"level": "auto"}).status == 200

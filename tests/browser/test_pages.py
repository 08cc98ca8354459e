"""The pages around the sale: the list of sales, my orders, the provider's page, the closed door."""
import pytest

from browser import LANGUAGES
from lib.shop import buy, eventually, instant, ordered

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


@EACH_LANGUAGE
def test_my_orders(shop, visits, language):
    buyer = shop.buyer(f"orders-{language}")
    page = visits.page(language)
    page.goto(f"{visits.origin}/orders#token={visits.token(buyer.name)}")
    page.wait("#orders")
    page.look("orders-none")
    for end in ("paid", "cancelled", "pending_payment"):
        order = ordered(buyer, buy(buyer, shop.open_sale(), key="k").json["id"])["order"]["id"]
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
    nobody = visits.page(language)
    nobody.expect(401)
    nobody.goto(f"{visits.origin}/orders")
    nobody.check("sign_in", "orders-sign_in")


@EACH_LANGUAGE
def test_a_sale_that_is_not_there(shop, visits, language):
    page = visits.page(language)
    page.expect(404)
    assert page.goto(f"{visits.origin}/sales/no-such-sale")["status"] == 404


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

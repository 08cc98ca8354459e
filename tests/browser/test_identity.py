"""Who the buyer is: a token from the address, a cookie of the shop, the demo sign-in, or nobody."""
import pytest

from browser import LANGUAGES, Page
from lib.dev import dev_shop
from visits import COOKIE

EACH_LANGUAGE = pytest.mark.parametrize("language", LANGUAGES)


def test_a_token_in_the_address_is_taken_out_of_it_at_once_and_kept(shop, visits):
    sale, token = shop.open_sale(), visits.token("from-the-shop")
    page = visits.page()
    page.goto(f"{visits.origin}/sales/{sale}#token={token}")
    page.until("open")
    assert page.url == f"{visits.origin}/sales/{sale}"
    assert page.evaluate("return history.length") <= 2, "and no entry of the history has it"
    assert not any("token" in one["url"] for one in page.requests()[1:])
    assert page.storage()["doorbuster.token"] == token
    page("reload")
    page.until("open")
    page.click("#buy")
    page.until("reserved")
    assert page.requests("POST", "/purchases")[0]["headers"]["authorization"] == f"Bearer {token}"


def test_a_token_that_has_run_out_is_forgotten(shop, visits):
    sale = shop.open_sale(human_check="pow", pow_number_max=2000)
    page = visits.page()
    page.expect(401)
    page.goto(f"{visits.origin}/sales/{sale}#token={visits.token('too-long-ago', lifetime_s=-10)}")
    page.until("sign_in")
    assert "doorbuster.token" not in page.storage()


def test_a_cookie_of_the_shop(shop, visits):
    sale = shop.open_sale(human_check="pow", pow_number_max=2000)
    page = visits.page(cookie={"name": COOKIE, "value": visits.token("with-a-cookie"), "url": visits.origin,
                               "httpOnly": True, "sameSite": "Strict"})
    page.goto(f"{visits.origin}/sales/{sale}")
    page.until("open")
    page.click("#buy")
    page.until("reserved")
    assert "authorization" not in page.requests("POST", "/purchases")[0]["headers"]
    assert page.evaluate("return document.cookie") == "", "and none of our own"


@EACH_LANGUAGE
def test_nobody_is_sent_to_the_shop(shop, visits, language):
    page = visits.sale(shop.open_sale(human_check="pow", pow_number_max=2000), None, language)
    page.expect(401)
    page.check("sign_in")


def test_two_buyers_in_one_browser_have_two_purchases(shop, visits):
    sale = shop.open_sale()
    page = visits.sale(sale, "first-of-two")
    for name in ("first-of-two", "second-of-two"):
        page.goto("about:blank")
        page.goto(f"{visits.origin}/sales/{sale}#token={visits.token(name)}")
        page.until("open")
        page.click("#buy")
        page.until("reserved")
    assert shop.stock(sale)["units_held"] == 2


def test_the_demo_sign_in_of_a_shop_to_try_out(driver, tmp_path):
    with dev_shop(tmp_path) as port:
        page = Page(driver)
        page.expect(401)
        page.goto(f"http://127.0.0.1:{port}/")
        page.wait('#sales > li[data-state="open"] a')
        page.look("sales-dev")
        page.click('#sales > li[data-state="open"] a')
        page.check("sign_in", "sign_in-dev")
        page("fill", selector="#sign-in [name=buyer]", text="alice")
        page.click("#sign-in button")
        page.until("open")
        page.click("#buy")
        page.until("reserved")
        page.judge()
        page.close()

"""When things break between the button and the order: one purchase, whatever happens."""
import json

import pytest

from browser import LANGUAGES
from lib.shop import buy, eventually, instant, item_terms, ordered
from visits import Visits

EACH_LANGUAGE = pytest.mark.parametrize("language", LANGUAGES)


def problem(status: int, code: str) -> dict:
    return {"status": status, "headers": {"Content-Type": "application/problem+json", "Retry-After": "1"},
            "body": json.dumps({"type": "about:blank", "title": code, "status": status, "code": code})}


def keys_of(page) -> set:
    """By what the presses of this page named their purchase."""
    return {one["headers"].get("idempotency-key") or json.loads(one["body"])["token"]
            for one in page.requests("POST", "/purchases")}


def test_a_double_press_is_one_purchase_and_one_request(shop, visits):
    sale = shop.open_sale(items=[item_terms(units_per_buyer_max=5)])
    page = visits.sale(sale, "hasty")
    page.until("open")
    page("click", selector="#buy", count=2)
    page.until("reserved")
    page.evaluate("document.querySelector('#buy')?.click(); document.querySelector('#buy')?.click()")
    assert len(page.requests("POST", "/purchases")) == 1 and shop.stock(sale)["units_held"] == 1


def test_a_press_before_the_page_has_asked_for_the_time_is_one_request_too(shop, visits):
    page = visits.page()
    page.interfere("GET", "/v1/time", "hold")
    page.goto(f"{visits.origin}/sales/{shop.open_sale()}#token={visits.token('early')}")
    page.until("open")
    page.interfere("POST", "/purchases", "hold")
    page.click("#buy")
    page.until("sending")
    page("release", ending="/v1/time")
    eventually("the clock is set", lambda: len(page.requests("GET", "/v1/time")) == 3)
    page.wait_true("return document.querySelector('#accuracy').textContent.includes('±')")
    page("release", ending="/purchases")
    page.until("reserved")
    page.interfere("GET", "/v1/time", "hold")
    page("reload")
    page.until("reserved")  # also before it knows the time: no button that could be pressed again
    page("release", ending="/v1/time")
    assert len(page.requests("POST", "/purchases")) == 1


@pytest.mark.parametrize("check", ["none", "pow"])
def test_a_second_tab_and_a_reload_find_the_same_purchase(shop, visits, check):
    sale = shop.open_sale(human_check=check, pow_number_max=2000)
    first = visits.sale(sale, f"reloads-{check}")
    first.until("open")
    first.interfere("POST", "/purchases", "lose", "hold")
    first.expect("lost")
    first.click("#buy")
    eventually("it asks again, not knowing that it has bought", lambda: len(first.requests("POST", "/purchases")) == 2)
    assert first.state == "repeating" and shop.stock(sale)["units_held"] == 1
    second = visits.page(beside=first)
    second.goto(f"{visits.origin}/sales/{sale}")
    second.until("reserved")
    first("release", ending="/purchases")
    first.until("reserved")
    assert keys_of(first) == keys_of(second) and len(keys_of(first)) == 1
    order = first.text("#order")
    first("reload")
    first.until("reserved")
    assert first.text("#order") == second.text("#order") == order
    assert shop.stock(sale)["units_held"] == 1


@pytest.mark.parametrize("check", ["none", "pow"])
def test_a_reload_between_the_press_and_the_answer(shop, visits, check):
    sale = shop.open_sale(human_check=check, pow_number_max=2000, items=[item_terms(units_per_buyer_max=5)])
    page = visits.sale(sale, f"nervous-{check}")
    page.until("open")
    page.interfere("POST", "/purchases", "lose", "hold")
    page.expect("lost")
    page.click("#buy")
    eventually("it asks again", lambda: len(page.requests("POST", "/purchases")) == 2)
    page("reload")
    page.until("reserved")
    assert len(keys_of(page)) == 1 and shop.stock(sale)["units_held"] == 1


@pytest.mark.parametrize("language, refusals", [
    ("en", [problem(503, "overloaded"), "lose"]),
    ("zh-Hans", [problem(503, "crowded"), problem(503, "unknown")]),
    ("zh-Hant", [problem(429, "rate_limited"), problem(503, "rebuilding")])])
def test_what_will_pass_is_asked_again_with_the_same_key(shop, visits, language, refusals):
    sale = shop.open_sale()
    page = visits.sale(sale, f"patient-{language}", language)
    page.expect(503, 429, "lost")
    page.interfere("POST", "/purchases", *refusals, "hold")
    page.until("open")
    page.click("#buy")
    eventually("the third is on its way", lambda: len(page.requests("POST", "/purchases")) == 3)
    page.check("repeating")
    page("release", ending="/purchases")
    page.until("reserved")
    assert len(keys_of(page)) == 1 and len(page.requests("POST", "/purchases")) == 3
    assert shop.stock(sale)["units_held"] == 1


@pytest.mark.parametrize("cooldown_ms, is_grey", [(60_000, True), (0, False)])
def test_the_button_cools_down_after_a_press_that_won_nothing(driver, own_shop, cooldown_ms, is_grey):
    own_shop.server.settings["DOORBUSTER_PAGE__COOLDOWN_MS"] = str(cooldown_ms)
    shop = own_shop.start()
    visits = Visits(driver, shop)
    sale = shop.open_sale()
    page = visits.sale(sale, "cools")
    page.expect(409)
    page.until("open")
    shop.act(sale, "pause")
    page.click("#buy")
    page.until("paused")
    shop.act(sale, "resume")
    page.until("open")
    assert page.evaluate("return document.querySelector('#buy').disabled") is is_grey
    page.evaluate("document.querySelector('#buy').click()")
    assert len(page.requests("POST", "/purchases")) == (1 if is_grey else 2)
    visits.end()


@EACH_LANGUAGE
def test_offline_and_back(shop, visits, language):
    sale = shop.open_sale()
    page = visits.sale(sale, f"tunnel-{language}", language)
    page.expect("lost")
    page.until("open")
    page("offline", on=True)
    page.check("offline")
    page("offline", on=False)
    page.until("open")
    page.interfere("POST", "/purchases", "hold")
    page.click("#buy")
    page.until("sending")
    page("offline", on=True)
    page("release", ending="/purchases")
    page.check("offline", "offline-pressed")
    page("offline", on=False)
    page.until("reserved")  # by itself
    assert len(keys_of(page)) == 1 and shop.stock(sale)["units_held"] == 1


def test_the_server_is_killed_and_comes_back_while_the_page_waits(driver, own_shop):
    shop = own_shop.start()
    visits = Visits(driver, shop)
    sale = shop.create_sale(opens_at=instant(600), closes_at=instant(7200))
    shop.act(sale, "warm")
    bought = shop.open_sale(payment_window_s=600)
    waits, in_line, pressed = (visits.sale(one, f"waits-{number}") for number, one in enumerate((sale, bought, bought)))
    waits.until("ready")
    in_line.until("open")
    in_line.click("#buy")
    in_line.until("reserved")
    pressed.until("open")
    for page in (waits, in_line, pressed):
        page.expect("lost", 503)
    shop.server.kill()
    shop.close()
    pressed.click("#buy")
    pressed.until("repeating", "offline")
    shop.restart()
    pressed.until("reserved")
    assert in_line.state == "reserved" and waits.state == "ready"
    assert shop.stock(bought)["units_held"] == 2 and len(keys_of(pressed)) == 1
    # What happens now is heard again, by a stream that has found its way back.
    order = in_line.evaluate("return document.querySelector('#order').textContent.match(/[0-9]{5,}/)[0]")
    assert shop.buyer("waits-1").post(f"/v1/orders/{order}/cancel").status == 200
    in_line.until("cancelled")
    visits.end()


def sell_to_another(shop, provider, sale: str) -> None:
    """The unit that came back, and for good."""
    other = shop.buyer()
    eventually("another has the unit", lambda: buy(other, sale, key="k").status == 202)
    order = ordered(other, buy(other, sale, key="k").json["id"])["order"]["id"]
    assert provider.act(other.post(f"/v1/orders/{order}/payments").json["id"], "capture").status == 200
    eventually("it is sold", lambda: shop.stock(sale)["units_sold"] == 1)


def test_a_payment_that_comes_too_late_is_reinstated_or_given_back(driver, late_shop):
    """A provider that forgot what it had voided takes the money after the order expired."""
    shop, provider = late_shop
    visits = Visits(driver, shop)
    pages = []
    for end, language in (("paid", "en"), *(("refunded", language) for language in LANGUAGES)):
        sale = shop.open_sale(payment_window_s=8, items=[item_terms(units_total=1)])
        page = visits.sale(sale, f"late-{end}", language)
        page.until("open")
        page.click("#buy")
        page.until("reserved")
        page.origins.add(provider.url)
        page.click("#pay")
        page("wait_url", prefix=f"{provider.url}/pay/")
        pages.append((end, sale, page, page.url))
    for end, sale, page, _ in pages:
        page.goto(f"{visits.origin}/sales/{sale}")
        page.until("expired")
        if end == "refunded":
            sell_to_another(shop, provider, sale)
    provider.kill()
    known = provider.data.read_text().splitlines(keepends=True)
    provider.data.write_text("".join(line for line in known if json.loads(line)["state"] != "voided"))
    provider.start()
    for end, sale, page, pay_page in pages:
        page.goto(pay_page)
        page.click('form[action*="/capture"] button')
        page.wait_true("return !document.querySelector('form')")
        page.goto(f"{visits.origin}/sales/{sale}")
        page.check(end, f"{end}-late")
    visits.end()

"""When things break between the button and the order: one purchase, whatever happens."""
import itertools
import json
import resource
import signal
import threading

import pytest

from browser import LANGUAGES
from lib import jwt
from lib.client import Client
from engines.nginx import Nginx
from lib.shop import EVENTUALLY_S_MAX, buy, eventually, instant, item_terms, ordered
from visits import Visits

EACH_LANGUAGE = pytest.mark.parametrize("language", LANGUAGES)


def problem(status: int, code: str) -> dict:
    return {"status": status, "headers": {"Content-Type": "application/problem+json", "Retry-After": "1"},
            "body": json.dumps({"type": "about:blank", "title": code, "status": status, "code": code})}


def keys_of(page) -> set:
    """By what the presses of this page named their purchase."""
    return {one["headers"].get("idempotency-key") or json.loads(one["body"])["token"]
            for one in page.requests("POST", "/purchases")}


def test_presses_after_the_purchase_are_none(shop, visits):
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


@EACH_LANGUAGE
@pytest.mark.parametrize("check", ["none", "pow"])
def test_a_second_tab_and_a_reload_find_the_same_purchase(shop, visits, check, language):
    sale = shop.open_sale(human_check=check, pow_number_max=2000)
    first = visits.sale(sale, f"reloads-{check}-{language}", language)
    first.until("open")
    first.interfere("POST", "/purchases", "lose", "hold")
    first.expect("lost")
    first.click("#buy")
    eventually("it asks again, not knowing that it has bought", lambda: len(first.requests("POST", "/purchases")) > 1)
    assert first.state == "repeating" and shop.stock(sale)["units_held"] == 1
    second = visits.page(language, beside=first)
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


@EACH_LANGUAGE
@pytest.mark.parametrize("check", ["none", "pow"])
def test_a_reload_between_the_press_and_the_answer(shop, visits, check, language):
    sale = shop.open_sale(human_check=check, pow_number_max=2000, items=[item_terms(units_per_buyer_max=5)])
    page = visits.sale(sale, f"nervous-{check}-{language}", language)
    page.until("open")
    page.interfere("POST", "/purchases", "lose", "hold")
    page.expect("lost")
    page.click("#buy")
    eventually("it asks again", lambda: len(page.requests("POST", "/purchases")) > 1)
    page("reload")
    page.until("reserved")
    assert len(keys_of(page)) == 1 and shop.stock(sale)["units_held"] == 1


def test_what_will_pass_is_asked_again_with_the_same_key(shop, visits):
    """Those answers that cannot be had from a real server at will: `crowded` needs a crowd of many threads in one
    moment, `rebuilding` is over before a browser can ask, and a lost answer takes a line that breaks in between."""
    sale = shop.open_sale()
    page = visits.sale(sale, "patient", patience=12)
    page.expect(503, "lost")
    page.interfere("POST", "/purchases", problem(503, "crowded"), problem(503, "rebuilding"), "lose", "hold")
    page.until("open")
    page.click("#buy")
    eventually("the fourth is on its way", lambda: len(page.requests("POST", "/purchases")) == 4)
    page.until("repeating")
    page("release", ending="/purchases")
    page.until("reserved")
    assert len(keys_of(page)) == 1 and len(page.requests("POST", "/purchases")) == 4
    assert shop.stock(sale)["units_held"] == 1


class Crowd:
    """Others who buy without a pause, so that a limit is always used up."""

    def __init__(self, shop, sale: str):
        self._shop, self._sale, self._is_over = shop, sale, threading.Event()
        self._is_refused = threading.Event()
        self._threads = [threading.Thread(target=self._keep_buying) for _ in range(4)]

    def _keep_buying(self) -> None:
        server = self._shop.server
        for number in itertools.count():
            client = Client(server.public_port, "public", jwt.mint(server.hmac_secret, f"{threading.get_ident()}-{number}"))
            if buy(client, self._sale, key="k").status != 202:
                self._is_refused.set()
            client.close()
            if self._is_over.is_set():
                return

    def __enter__(self) -> None:
        for thread in self._threads:
            thread.start()
        assert self._is_refused.wait(EVENTUALLY_S_MAX), "there is no limit to use up"

    def __exit__(self, *_) -> None:
        self._is_over.set()
        for thread in self._threads:
            thread.join()


@pytest.mark.parametrize("status, settings, terms", [
    (503, {"DOORBUSTER_SHARD__RATE_PER_SECOND_MAX": "1", "DOORBUSTER_SHARD__WAIT_MS_MAX": "1"}, {}),
    (429, {}, {"purchases_per_second_max": 1})], ids=["overloaded", "rate_limited"])
def test_a_server_that_is_too_busy_is_asked_again(driver, own_shop, status, settings, terms):
    """Really refused, by its own limits, in each language."""
    own_shop.server.settings.update(settings)
    shop = own_shop.start()
    visits = Visits(driver, shop)
    sale = shop.open_sale(items=[item_terms(units_total=100_000)], **terms)
    pages = [visits.sale(sale, f"patient-{language}", language) for language in LANGUAGES]
    for page in pages:
        page.expect(503, 429)
        page.until("open")
        page.interfere("POST", "/purchases", "pass", *["hold"] * 9)  # it does not wait for one for ever
    with Crowd(shop, sale):
        for page in pages:
            page.click("#buy")
        refused = [page for page in pages if page.until("repeating", "reserved") == "repeating"]
        assert refused, "whoever comes first in a second is served; not all of them came first"
        for page in refused:
            eventually("it asks again", lambda: len(page.requests("POST", "/purchases")) > 1)
            page.check("repeating")
            assert page.requests("POST", "/purchases")[0]["status"] == status
    for page in refused:
        page("release", ending="/purchases")
    for page in pages:
        page.until("reserved")
        assert len(keys_of(page)) == 1
    visits.end()


@pytest.mark.parametrize("cooldown_ms, is_grey", [(60_000, True), (0, False)])
def test_the_button_cools_down_after_a_press_that_won_nothing(driver, own_shop, cooldown_ms, is_grey):
    own_shop.server.settings["DOORBUSTER_PAGE__COOLDOWN_MS"] = str(cooldown_ms)
    shop = own_shop.start()
    visits = Visits(driver, shop)
    sale = shop.open_sale()
    page = visits.sale(sale, "cools")
    page.expect(409)
    page.until("open")
    page.press_before(lambda: shop.act(sale, "pause"))
    page.until("paused")
    shop.act(sale, "resume")
    page.until("open")
    assert page.evaluate("return document.querySelector('#buy').disabled") is is_grey
    assert page.text("#buy").startswith("Again in " if is_grey else "Buy for ")
    page.evaluate("document.querySelector('#buy').click()")
    if is_grey:
        assert len(page.requests("POST", "/purchases")) == 1
    else:
        eventually("it buys again", lambda: len(page.requests("POST", "/purchases")) == 2)
        page.until("reserved")
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


@pytest.mark.parametrize("end", ["killed", "disk"])
def test_the_server_ends_and_comes_back_while_pages_wait(driver, own_shop, end):
    """By kill -9, or by a disk that takes no more: then those who pressed hear `unknown` first. In each language."""
    shop = own_shop
    shop.server.preexec = lambda: signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # a refused write fails, and no more
    shop.start()
    visits = Visits(driver, shop)
    waited = shop.create_sale(opens_at=instant(600), closes_at=instant(7200))
    shop.act(waited, "warm")
    bought = shop.open_sale(payment_window_s=600)
    waiting, holding, pressing = ([visits.sale(sale, f"{who}-{language}", language) for language in LANGUAGES]
                                  for who, sale in (("waits", waited), ("holds", bought), ("presses", bought)))
    for page in holding:
        page.until("open")
        page.click("#buy")
    for page, state in (*((page, "ready") for page in waiting), *((page, "reserved") for page in holding),
                        *((page, "open") for page in pressing)):
        page.until(state)
        page.expect("lost", 503)
    for page in pressing:
        page.settle()  # otherwise it hears of the end before it presses
    if end == "killed":
        shop.server.kill()
    else:
        resource.prlimit(shop.server.process.pid, resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
    for page in pressing:
        page.click("#buy")
    for page in pressing:
        page.until("repeating", "offline")
    if end == "disk":
        assert shop.server.wait() == 1, shop.server.said()
    shop.close()
    pressing[0].check("repeating", f"repeating-{end}")
    shop.restart()
    for page in pressing:
        page.until("reserved")
        assert len(keys_of(page)) == 1
    assert {page.state for page in holding} == {"reserved"} and {page.state for page in waiting} == {"ready"}
    assert shop.stock(bought)["units_held"] == 2 * len(LANGUAGES)
    # What happens now is heard again, by a stream that has found its way back.
    for language, page in zip(LANGUAGES, holding):
        order = page.evaluate("return document.querySelector('#order').textContent.match(/[0-9]{5,}/)[0]")
        assert shop.buyer(f"holds-{language}").post(f"/v1/orders/{order}/cancel").status == 200
    for page in holding:
        page.until("cancelled")
    visits.end()


# In front of the server, as some companies and some nets have it.
PROXY = """
    server {
        listen 127.0.0.1:PORT;
        location / { proxy_pass http://127.0.0.1:SERVER; }
        location ~ /events$ { EVENTS }
    }
"""


@pytest.mark.parametrize("events", [
    "return 502;",
    "proxy_pass http://127.0.0.1:SERVER; proxy_buffering on; proxy_ignore_headers X-Accel-Buffering;"],
    ids=["refused", "swallowed"])
def test_where_no_stream_comes_through_the_purchase_is_asked_for(driver, shop, tmp_path, events):
    """A proxy that refuses the stream, and one that swallows it until it ends."""
    http = PROXY.replace("EVENTS", events).replace("SERVER", str(shop.server.public_port))
    with Nginx(tmp_path / "nginx", http).start() as proxy:
        visits = Visits(driver, shop, f"http://127.0.0.1:{proxy.port}")
        page = visits.sale(shop.open_sale(), f"behind-{proxy.port}")
        page.expect(502, "lost")
        page.until("open")
        page.click("#buy")
        page.until("reserved")
        assert page.requests("GET", "/events") != []
        order = page.evaluate("return document.querySelector('#order').textContent.match(/[0-9]{5,}/)[0]")
        assert shop.buyer(f"behind-{proxy.port}").post(f"/v1/orders/{order}/cancel").status == 200
        page.until("cancelled")
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
    for end, language in itertools.product(("paid", "refunded"), LANGUAGES):
        sale = shop.open_sale(payment_window_s=30, items=[item_terms(units_total=1)])
        page = visits.sale(sale, f"late-{end}-{language}", language)
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

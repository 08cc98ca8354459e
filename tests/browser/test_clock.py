"""The countdown follows the server's clock; that of the device decides nothing."""
import pytest

from lib.shop import eventually, instant
from visits import LEADS_S

HOUR_MS = 3_600_000


@pytest.mark.parametrize("hours", [-7, 7])
def test_a_device_whose_clock_is_hours_off_sees_the_same_sale(shop, visits, hours):
    sale, page = visits.before_start(f"clock-{hours}", terms={"human_check": "pow", "pow_number_max": 2000},
                                     clock_shift_ms=hours * HOUR_MS)
    opens_at_ms = shop.anyone.get(f"/v1/sales/{sale}").json["opens_at_ms"]
    page.until("open")
    now_ms = shop.anyone.get("/v1/time").json["now_ms"]
    assert now_ms >= opens_at_ms - 1000, "not before the start, by more than it can be off"
    page.click("#buy")
    page.until("reserved")
    minutes, seconds = page.text("#timer").split(":")
    left_s = 60 * int(minutes) + int(seconds)
    assert 600 < left_s <= 900, "the payment timer, too, is the server's"


def test_a_clock_that_is_set_while_the_page_waits_changes_nothing(shop, visits):
    sale = shop.create_sale(opens_at=instant(1800))
    shop.act(sale, "warm")
    page = visits.page(clock_shift_ms=1)
    page.goto(f"{visits.origin}/sales/{sale}#token={visits.token('sets-the-clock', lifetime_s=12 * 3600)}")
    page.until("ready")
    page.evaluate("globalThis.clockShift = argument", 5 * HOUR_MS)
    before = page.text("#clock")
    page.wait_true("return document.querySelector('#clock').textContent.trim() !== argument", before)  # it goes on
    assert page.state == "ready" and page.evaluate("return document.querySelector('#buy').disabled") is True
    assert page.requests("POST", "/purchases") == []


def lit_at(page) -> tuple:
    """When the button lights, by what the server says the time is right then; and how far off the page may be."""
    page.evaluate("""
        const main = document.querySelector("main");
        const note = async () => {
            if (main.dataset.state !== "open") return;
            observer.disconnect();
            document.body.dataset.lit = (await (await fetch("/v1/time")).json()).now_ms;
        };
        const observer = new MutationObserver(note);
        observer.observe(main, { attributes: true });
        note();
    """)
    page.wait("body[data-lit]")
    error_ms = int(page.evaluate("return document.querySelector('#accuracy').textContent.match(/±([0-9]+)/)[1]"))
    return int(page.evaluate("return document.body.dataset.lit")), error_ms


def test_the_button_lights_at_the_start_and_not_before(shop, visits):
    sale, page = visits.before_start("on-time")
    opens_at_ms = shop.anyone.get(f"/v1/sales/{sale}").json["opens_at_ms"]
    lit_at_ms, error_ms = lit_at(page)
    assert lit_at_ms >= opens_at_ms - error_ms - 1


def test_where_the_sale_asks_for_it_each_page_lights_a_little_later(shop, visits):
    sale, page = visits.before_start("spread", terms={"start_jitter_ms": 3000}, chance=0.5)
    opens_at_ms = shop.anyone.get(f"/v1/sales/{sale}").json["opens_at_ms"]
    lit_at_ms, error_ms = lit_at(page)
    assert lit_at_ms >= opens_at_ms + 1500 - error_ms - 1
    assert page.evaluate("return document.querySelector('#same').checkVisibility()") is False, "no promise that is not kept"
    page.click("#buy")
    page.until("reserved")


def test_an_opening_before_the_announced_one_is_noticed(shop, visits):
    """The last sample of the time brings it. It is held back here until the operator has spoken."""
    sale = shop.create_sale(opens_at=instant(70), human_check="pow", pow_number_max=2000)
    announced_ms = shop.anyone.get(f"/v1/sales/{sale}").json["opens_at_ms"]
    page = visits.page(chance=0.99)  # of all moments for it the first, which is now
    page.interfere("GET", "/v1/time", "pass", "pass", "hold")
    page.goto(f"{visits.origin}/sales/{sale}#token={visits.token('surprised')}")
    page.until("ready")
    eventually("it is on its way", lambda: len(page.requests("GET", "/v1/time")) == 3)
    shop.act(sale, "open")
    page("release", ending="/v1/time")
    page.until("open")
    assert shop.anyone.get("/v1/time").json["now_ms"] < announced_ms and len(page.requests()[1:]) <= 5
    page.click("#buy")
    page.until("reserved")


@pytest.mark.parametrize("check", ["none", "pow"])
def test_an_opening_that_is_put_off_is_noticed(shop, visits, check):
    """Before the old start, and within five requests."""
    for lead_s in LEADS_S:
        sale = shop.create_sale(opens_at=instant(lead_s), warm_before_s=1, human_check=check, pow_number_max=2000)
        page = visits.sale(sale, f"patient-{lead_s}")
        page.expect(409)
        page.wait_true("return document.querySelector('#accuracy').textContent.includes('±')")
        if shop.admin.patch(f"/v1/sales/{sale}", {"opens_at": instant(1800)},
                            headers={"If-Match": shop.version_of(sale)}).status == 200:
            break  # otherwise it is warm already, and its time is fixed
    page.wait_true("return parseInt(document.querySelector('#clock').textContent) > 15")
    assert page.state == "upcoming" and len(page.requests()[1:]) <= 5


def test_the_last_sample_is_taken_shortly_before_the_start(shop, visits):
    sale = shop.create_sale(opens_at=instant(LEADS_S[0]), warm_before_s=1)
    page = visits.sale(sale, "samples")
    page.until("open")
    eventually("it is taken", lambda: len(page.requests("GET", "/v1/time")) == 3)
    page.click("#buy")
    page.until("reserved")
    assert len(page.requests("GET", "/v1/time")) == 3

"""The countdown follows the server's clock; that of the device decides nothing."""
import pytest

from lib.shop import instant

HOUR_MS = 3_600_000


@pytest.mark.parametrize("hours", [-7, 7])
def test_a_device_whose_clock_is_hours_off_sees_the_same_sale(shop, visits, hours):
    sale = shop.create_sale(opens_at=instant(4), human_check="pow", pow_number_max=2000)
    page = visits.page(clock_shift_ms=hours * HOUR_MS)
    page.goto(f"{visits.origin}/sales/{sale}#token={visits.token(f'clock-{hours}', lifetime_s=12 * 3600)}")
    assert page.until("upcoming", "checking", "ready") != "open"
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


def test_the_button_lights_at_the_start_and_not_before(shop, visits):
    """By what the server says the time is, asked from the page right when the button lights."""
    sale = shop.create_sale(opens_at=instant(4))
    page = visits.sale(sale, "on-time")
    opens_at_ms = shop.anyone.get(f"/v1/sales/{sale}").json["opens_at_ms"]
    page.evaluate("""
        const main = document.querySelector("main");
        new MutationObserver(async (_, observer) => {
            if (main.dataset.state !== "open") return;
            observer.disconnect();
            document.body.dataset.lit = (await (await fetch("/v1/time")).json()).now_ms;
        }).observe(main, { attributes: true });
    """)
    page.until("open")
    page.wait("body[data-lit]")
    lit_at_ms = int(page.evaluate("return document.body.dataset.lit"))
    error_ms = int(page.evaluate("return document.querySelector('#accuracy').textContent.match(/±([0-9]+)/)[1]"))
    assert lit_at_ms >= opens_at_ms - error_ms - 1

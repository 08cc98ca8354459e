"""For everybody: the keyboard alone, a screen reader, a small screen, no motion, three languages."""
import json
import re
from pathlib import Path

import pytest

from browser import LANGUAGES
from lib.shop import item_terms


def tab_to(page, selector: str) -> None:
    """What has the focus can be seen to have it."""
    page.focus(selector)
    seen = page.evaluate("const style = getComputedStyle(document.activeElement);"
                         "return style.outlineStyle !== 'none' || style.boxShadow !== 'none'")
    assert seen, f"{selector} has the focus and does not show it"


def test_a_purchase_with_the_keyboard_alone(shop, visits):
    sale = shop.open_sale(items=[item_terms("phone"), item_terms("watch", units_per_buyer_max=3)])
    page = visits.sale(sale, "keyboard")
    page.until("open")
    tab_to(page, "[name=item]")
    page("press", key="ArrowDown")
    tab_to(page, "#buy")
    page("press", key="Enter")
    page.until("reserved")
    assert shop.stock(sale, "watch")["units_held"] == 1
    page.origins.add(shop.provider.url)
    tab_to(page, "#pay")
    page("press", key="Enter")
    page("wait_url", prefix=f"{shop.provider.url}/pay/")
    tab_to(page, "button")
    page("press", key="Enter")
    page.wait_true("return !document.querySelector('form')")


def test_the_focus_is_not_lost_when_the_state_changes(shop, visits):
    sale = shop.open_sale()
    page = visits.sale(sale, "focus")
    page.until("open")
    tab_to(page, "#buy")
    page("press", key="Enter")
    page.until("reserved")
    assert page.evaluate("return document.querySelector('main').contains(document.activeElement)")


def test_milestones_are_announced_and_seconds_are_not(shop, visits):
    _, page = visits.before_start("listens")
    assert page.evaluate("const s = document.querySelector('#status');"
                         "return [s.getAttribute('role'), s.getAttribute('aria-live')]") == ["status", "polite"]
    spoken = "[aria-live]:not([aria-live=off]), [role=status], [role=alert]"
    assert page.evaluate("return document.querySelector('#clock').closest(argument)", spoken) is None, \
        "a countdown that is read out drowns everything else"
    page.evaluate("""
        globalThis.said = [];
        globalThis.ticks = 0;
        const watch = (id, what) => new MutationObserver(what).observe(
            document.querySelector(id), { childList: true, characterData: true, subtree: true });
        watch("#status", () => globalThis.said.push(document.querySelector("#status").textContent.trim()));
        watch("#clock", () => ++globalThis.ticks);
    """)
    page.until("open")
    said, ticks = page.evaluate("return [globalThis.said, globalThis.ticks]")
    assert 1 <= len(said) <= 3 and ticks > 0, (said, ticks)


def test_a_switch_of_language_keeps_the_place(shop, visits):
    sale = shop.open_sale(items=[item_terms("phone"), item_terms("watch", units_per_buyer_max=3)])
    page = visits.sale(sale, "polyglot")
    page.until("open")
    page.click('#items input[value="watch"]')
    page("select", selector="#language", value="zh-Hant")
    page.language = "zh-Hant"
    page.check("open", "open-switched")
    assert page.evaluate("return document.querySelector('#items input:checked').value") == "watch"
    assert page.storage()["doorbuster.language"] == "zh-Hant"
    page.click("#buy")
    page.until("reserved")
    words = page.text("#status")
    page.settle()
    asked = len(page.requests())
    page("select", selector="#language", value="zh-Hans")
    page.language = "zh-Hans"
    page.check("reserved", "reserved-switched")
    assert page.text("#status") != words and len(page.requests()) == asked, "words change, nothing is asked again"
    page("reload")
    page.until("reserved")
    assert page.evaluate("return document.documentElement.lang") == "zh-Hans"


@pytest.mark.parametrize("language, price", [("en", "NT$9,999"), ("zh-Hans", "NT$9,999"), ("zh-Hant", "$9,999")])
def test_money_as_the_language_writes_it(shop, visits, language, price):
    page = visits.sale(shop.open_sale(), f"reads-{language}", language)
    page.until("open")
    assert price in page.evaluate("return document.querySelector('main').innerText")


def test_nothing_moves_where_motion_is_not_wanted(shop, visits):
    sale = shop.open_sale()
    page = visits.page(reducedMotion="reduce")
    page.interfere("POST", "/purchases", "hold")
    page.goto(f"{visits.origin}/sales/{sale}#token={visits.token('still')}")
    moving = ("return document.getAnimations().filter((one) => one.playState === 'running' && "
              "one.effect.getComputedTiming().duration > 10).length")
    page.until("open")
    assert page.evaluate(moving) == 0
    page.click("#buy")
    page.until("sending")
    assert page.evaluate(moving) == 0
    page("release", ending="/purchases")
    page.until("reserved")
    assert page.evaluate(moving) == 0


def test_without_scripts_there_are_words(shop, visits):
    page = visits.page(javaScriptEnabled=False)
    page.goto(f"{visits.origin}/sales/{shop.open_sale()}")
    assert all(word in page.text("noscript") for word in ("JavaScript", "启用", "啟用"))


def test_every_language_has_every_word():
    """Each name has as many words as there are languages, none of them empty, with the same places for values."""
    text = (Path(__file__).resolve().parents[2] / "web" / "page" / "words.js").read_text()
    names = [(name, json.loads(f"[{words.strip().rstrip(',')}]"))
             for name, words in re.findall(r"^  (\w+): \[(.*?)\],$", text, re.MULTILINE | re.DOTALL)]
    assert len(names) == len(re.findall(r"^  \w+:", text, re.MULTILINE)) > 80
    for name, words in names:
        assert len(words) == len(LANGUAGES) and all(words), name
        assert len({"{}" in word for word in words}) == 1, name

"""ALTCHA's public widget, in a real browser, against a real server: what it solves buys a unit."""
import json
from pathlib import Path

from browser import Page
from front import Front
from lib import jwt
from visits import COOKIE

HERE = Path(__file__).resolve().parent / "altcha"


def test_the_real_widget_solves_a_check_and_the_token_buys(driver, node_modules, shop):
    sale = shop.open_sale(human_check="pow", pow_number_max=20_000)
    files = {"/": HERE / "page.html", "/altcha.js": node_modules / "altcha" / "dist" / "altcha.js"}
    with Front(files, shop.server.public_port) as front:
        page = Page(driver, cookie={"name": COOKIE, "value": jwt.mint(shop.server.hmac_secret, "alice"),
                                    "url": front.origin, "sameSite": "Strict", "httpOnly": True})
        page.goto(f"{front.origin}/?sale={sale}")
        page.wait_true("return document.querySelector('#result').textContent !== ''")
        result = json.loads(page.text("#result"))
        page.close()
    assert result.get("state") == "verified", result
    steps = {step["name"]: step for step in result["steps"]}
    assert {name: step["status"] for name, step in steps.items()} == {
        "token": 200, "token again": 403, "purchase": 202, "purchase again": 202}, steps
    assert steps["token again"]["said"]["code"] == "check_failed"
    assert steps["purchase"]["said"]["id"] == steps["purchase again"]["said"]["id"]
    assert shop.stock(sale)["units_held"] == 1

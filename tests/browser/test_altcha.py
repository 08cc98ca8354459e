"""ALTCHA's public widget, in a real browser, against a real server: what it solves buys a unit."""
import json
import os
import subprocess
from pathlib import Path

from front import Front
from lib import jwt
from lib.server import Server
from lib.shop import Shop

HERE = Path(__file__).resolve().parent / "altcha"
COOKIE, SECONDS_MAX = "shop_session", 60


def test_the_real_widget_solves_a_check_and_the_token_buys(node_modules, chromium, tmp_path):
    with Server(tmp_path / "shop", DOORBUSTER_IDENTITY__COOKIE=COOKIE) as server:
        shop = Shop(server).start()
        sale = shop.open_sale(human_check="pow", pow_number_max=20_000)
        files = {"/": HERE / "page.html", "/altcha.js": node_modules / "altcha" / "dist" / "altcha.js"}
        with Front(files, server.public_port) as front:
            wanted = {"url": f"{front.origin}/?sale={sale}", "seconds_max": SECONDS_MAX, "chromium": chromium,
                      "cookie": {"name": COOKIE, "value": jwt.mint(server.hmac_secret, "alice")}}
            ran = subprocess.run(["node", HERE / "drive.cjs", json.dumps(wanted)], capture_output=True, text=True,
                                 timeout=2 * SECONDS_MAX, env={**os.environ, "NODE_PATH": str(node_modules)})
        assert ran.returncode == 0, ran.stderr
        result = json.loads(ran.stdout)
        assert result.get("state") == "verified", (result, ran.stderr)
        steps = {step["name"]: step for step in result["steps"]}
        assert {name: step["status"] for name, step in steps.items()} == {
            "token": 200, "token again": 403, "purchase": 202, "purchase again": 202}, steps
        assert steps["token again"]["said"]["code"] == "check_failed"
        assert steps["purchase"]["said"]["id"] == steps["purchase again"]["said"]["id"]
        assert shop.stock(sale)["units_held"] == 1
        shop.close()
        assert server.stop() == 0, server.said()

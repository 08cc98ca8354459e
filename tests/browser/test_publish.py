"""A page on another server: written by `doorbuster publish`, served from another origin, bought through CORS."""
import functools
import http.server
import threading

import pytest

from front import Front
from lib.cli import operator_of
from lib.sandbox import free_port
from lib.server import Server
from lib.shop import Shop, eventually, instant
from visits import Visits


@pytest.fixture
def cdn(tmp_path):
    """A folder and the origin that serves it."""
    folder = tmp_path / "published"

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield folder, f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_a_published_page_buys_from_another_origin(driver, cdn, tmp_path):
    folder, origin = cdn
    with Server(tmp_path / "shop", DOORBUSTER_SERVER__LISTEN=f"127.0.0.1:{free_port()}",
                DOORBUSTER_SERVER__ORIGINS=origin) as server:
        shop = Shop(server).start()
        visits = Visits(driver, shop)
        sale = shop.create_sale(opens_at=instant(8), human_check="pow", pow_number_max=2000)
        written = operator_of(server, tmp_path)("publish", sale, "--out", str(folder), "--api-origin", visits.origin)
        assert written.returncode == 0, written.stderr
        found = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.html"))
        assert found, written.stdout
        page = visits.page()
        page.goto(f"{origin}/{next(path for path in found if sale in path)}#token={visits.token('far-away')}")
        page.until("open")
        page.click("#buy")
        page.check("reserved", "reserved-published")
        assert shop.stock(sale)["units_held"] == 1
        visits.end()

        stranger = shop.anyone.request("OPTIONS", f"/v1/sales/{sale}/purchases", headers={
            "Origin": "https://elsewhere.example", "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "authorization,content-type"})
        assert "access-control-allow-origin" not in stranger.headers
        shop.close()
        assert server.stop() == 0, server.said()


@pytest.mark.parametrize("check", ["none", "pow"])
def test_the_browser_has_leave_to_buy_before_the_start_and_the_press_is_one_request(driver, cdn, tmp_path, check):
    """Counted where it comes in: a preflight is the browser's own, and no page hears of it."""
    folder, origin = cdn
    with Server(tmp_path / "shop", DOORBUSTER_SERVER__LISTEN=f"127.0.0.1:{free_port()}",
                DOORBUSTER_SERVER__ORIGINS=origin) as server:
        shop = Shop(server).start()
        visits = Visits(driver, shop)
        sale = shop.create_sale(opens_at=instant(8), human_check=check, pow_number_max=2000)
        purchases = f"/v1/sales/{sale}/purchases"
        with Front({}, server.public_port) as api:
            written = operator_of(server, tmp_path)("publish", sale, "--out", str(folder), "--api-origin", api.origin)
            assert written.returncode == 0, written.stderr
            page = visits.page()
            page.origins.add(api.origin)
            page.goto(f"{origin}/sales/{sale}.html#token={visits.token('far-away')}")
            page.until("open")
            eventually("it has asked for leave", lambda: ("HEAD", purchases) in api.answered)
            before = list(api.answered)
            assert before.count(("OPTIONS", purchases)) == 1 and ("POST", purchases) not in before
            asked = [one for one in before if one[0] != "OPTIONS"]
            assert len(asked) <= 6, asked  # the five, and the one for leave
            page.click("#buy")
            page.until("reserved")
            assert [one for one in api.answered[len(before):] if one[1] == purchases] == [("POST", purchases)]
            assert api.answered[len(before)] == ("POST", purchases), "and nothing comes before it"
            visits.end()
        shop.close()
        assert server.stop() == 0, server.said()

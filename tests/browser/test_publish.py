"""A page on another server: written by `doorbuster publish`, served from another origin, bought through CORS."""
import functools
import http.server
import threading

import pytest

from lib.cli import operator_of
from lib.sandbox import free_port
from lib.server import Server
from lib.shop import Shop, instant
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

"""deploy/nginx/doorbuster.conf as it stands, in front of a real server."""
import http.client
import json
from pathlib import Path

import pytest

from engines.nginx import Nginx, deployed
from lib.client import ANSWER_S_MAX, Client, RawConnection
from lib.server import Server
from lib.shop import Shop, item_terms

BURST = 200


class Site:
    """The shop's server, and nginx in front of it. Buyers come through nginx, the operator does not."""

    def __init__(self, folder: Path, contract, **settings: str):
        self.server = Server(folder / "shop", DOORBUSTER_SERVER__TRUSTED_PROXIES="127.0.0.1", **settings)
        self.shop = Shop(self.server, contract).start()
        self.nginx = Nginx(folder / "nginx", deployed([self.server.public_port])).start()

    def __enter__(self) -> "Site":
        return self

    def __exit__(self, *_) -> None:
        self.nginx.stop()
        self.shop.close()
        self.server.__exit__(None, None, None)

    def buyer(self, name: str = None, source: str = "127.0.0.1") -> Client:
        direct = self.shop.buyer(name)
        client = Client(self.nginx.port, "public", direct.bearer, self.shop.contract, source=source)
        client.name = direct.name
        return client


@pytest.fixture
def site(tmp_path, contract):
    with Site(tmp_path, contract) as site:
        yield site


def test_a_sale_is_bought_through_nginx_and_its_events_leave_as_they_come(site):
    sale = site.shop.open_sale()
    buyer = site.buyer()
    bought = buyer.post(f"/v1/sales/{sale}/purchases", {"item": "phone", "quantity": 1},
                        headers={"Idempotency-Key": "first"})
    assert bought.status == 202, bought.body
    stream = http.client.HTTPConnection("127.0.0.1", site.nginx.port, timeout=ANSWER_S_MAX)
    stream.request("GET", f"/v1/purchases/{bought.json['id']}/events", headers={"Authorization": f"Bearer {buyer.bearer}"})
    answer = stream.getresponse()
    assert (answer.status, answer.headers["Content-Type"]) == (200, "text/event-stream")
    # The stream is still open when this arrives: nginx keeps nothing back.
    data = next(line for line in answer if line.startswith(b"data: "))
    assert json.loads(data.removeprefix(b"data: "))["id"] == bought.json["id"]
    stream.close()


def test_what_a_client_says_about_its_address_is_not_believed(site):
    """Else a flood would come from a million addresses of its own making."""
    assert site.shop.admin.put("/v1/lists/block/address/127.0.0.7").status == 200
    barred = site.buyer(source="127.0.0.7")
    assert barred.get("/v1/sales").status == 403
    assert barred.get("/v1/sales", headers={"X-Forwarded-For": "127.0.0.8"}).status == 403
    assert site.buyer(source="127.0.0.8").get("/v1/sales", headers={"X-Forwarded-For": "127.0.0.7"}).status == 200


def test_a_flood_from_one_address_hears_in_our_words_to_wait_and_others_are_served(site):
    # Each on a connection of its own: nginx judges them as they come, however long the server takes for those that pass.
    flood = [RawConnection(site.nginx.port, "127.0.0.9") for _ in range(4 * BURST)]
    for connection in flood:
        connection.send(b"GET /v1/time HTTP/1.1\r\nHost: localhost\r\n\r\n")
    answers = [connection.receive() for connection in flood]
    for connection, answer in zip(flood, answers):
        site.shop.contract.check("public", "GET", "/v1/time", answer)
        connection.close()
    refused = [answer for answer in answers if answer.status == 429]
    assert refused and sum(answer.status == 200 for answer in answers) >= BURST
    assert all(answer.code == "rate_limited" and answer.headers["retry-after"] == "1" for answer in refused)
    assert site.buyer(source="127.0.0.10").get("/v1/time").status == 200


def test_without_a_server_behind_it_the_answer_is_unknown_and_never_sold_out(site):
    sale = site.shop.open_sale(items=[item_terms()])
    buyer = site.buyer()
    site.server.kill()
    answer = buyer.post(f"/v1/sales/{sale}/purchases", {"item": "phone", "quantity": 1},
                        headers={"Idempotency-Key": "first"})
    assert (answer.status, answer.code) == (503, "unknown")
    assert answer.headers["retry-after"] == "1"

"""A sale end to end, through nginx, on two gates and two workers."""
import json
import subprocess

import pytest

from engines.nginx import Nginx, deployed
from fault_round import shows
from lib.cli import operator_of
from lib.client import Client
from lib.events import EventStream
from lib.server import BINARY, clean_environment
from lib.shop import Shop, buy, eventually, item_terms, ordered
from lib.skewed import SkewedClock
from lib.cluster_records import is_settled, read_records


class Site(Shop):
    """Buyers come through nginx; the operator goes to a gate."""

    def start(self) -> "Site":
        self.admin = self.admin_with(self.server.admin_key)
        self.anyone = self._client("public", self.server.public_port, None)
        return self

    def at_gate(self, gate: int, buyer: Client) -> Client:
        """The same buyer, past nginx."""
        return self._client("public", self.server.ports.gates[gate], buyer.bearer)

    def open_sale(self, **changes) -> str:
        """Its window has begun: it warms up and opens by itself."""
        sale = self.create_sale(**changes)
        self.is_everywhere(sale, "open")
        return sale

    def is_everywhere(self, sale: str, state: str) -> None:
        """nginx asks whichever gate it likes: until then one of them may not know the sale."""
        for port in self.server.ports.gates:
            gate = self._client("public", port, None)
            eventually(f"{sale} is {state} at every gate", lambda: shows(gate, sale, state))


def answered(buyer: Client, sale: str, key: str = "k"):
    """As a buyer's page asks: what is busy is asked again, with the same key."""
    def decided():
        answer = buy(buyer, sale, key=key)
        return answer if answer.status != 503 else None
    return eventually("a purchase is answered", decided)


def found(buyer: Client, path: str) -> dict:
    """What stands there; what is busy is asked again.

    A take that has just been answered may still stand in Redis' outbox: another gate then says that it does not know.
    """
    def probe():
        answer = buyer.get(path)
        if answer.status == 503:
            return None
        assert answer.status == 200, answer.body
        return answer.json
    return eventually(f"{path} is answered", probe)


@pytest.fixture
def site(cluster):
    site = Site(cluster).start()
    yield site
    site.close()


def test_a_sale_is_sold_to_the_last_unit_and_no_further(cluster, site):
    sale = site.open_sale(items=[item_terms(units_total=30)])
    winners = []
    for number in range(30):
        buyer = site.buyer(source=f"127.0.1.{number + 1}")
        bought = answered(buyer, sale)
        assert bought.status == 202, bought.body
        winners.append((buyer, bought.json["id"], bought.json["sequence"]))
    assert [sequence for _, _, sequence in winners] == list(range(1, 31))

    late = answered(site.buyer(), sale)
    assert (late.status, late.code) == (409, "sold_out")
    for buyer, purchase, _ in winners:
        assert ordered(buyer, purchase)["order"]["state"] == "pending_payment"
    eventually("nothing is on its way", lambda: is_settled(cluster, sale, ["phone"]))
    records = read_records(cluster, sale)
    assert {purchase["id"] for purchase in records.purchases} == {purchase for _, purchase, _ in winners}
    assert [(item["units_available"], item["units_held"]) for item in records.items] == [(0, 30)]


def test_both_gates_are_behind_nginx_and_know_the_same_purchases(site):
    sale = site.open_sale()
    buyer = site.buyer()
    bought = answered(buyer, sale)
    assert bought.status == 202, bought.body
    for gate in (0, 1):
        direct = site.at_gate(gate, buyer)
        again = answered(direct, sale)
        assert (again.status, again.json["id"]) == (202, bought.json["id"])
        other = answered(direct, sale, "another")
        assert (other.status, other.code) == (409, "limit_reached")
        assert found(direct, f"/v1/purchases/{bought.json['id']}")["id"] == bought.json["id"]
    ordered(buyer, bought.json["id"])


def test_a_unit_that_is_given_back_can_be_bought_at_either_gate(site):
    sale = site.open_sale(items=[item_terms(units_total=1)])
    first, second = site.buyer(), site.buyer()
    order = ordered(first, answered(first, sale).json["id"])["order"]["id"]
    assert answered(second, sale).code == "sold_out"
    assert first.post(f"/v1/orders/{order}/cancel").status == 200
    again = site.at_gate(1, second)
    eventually("the unit is for sale again", lambda: answered(again, sale).status == 202)
    assert answered(site.at_gate(0, first), sale).json["status"] == "cancelled"


def becomes(buyer: Client, order: str, state: str) -> None:
    eventually(f"order {order} is {state}", lambda: found(buyer, f"/v1/orders/{order}")["state"] == state)


def test_orders_are_paid_refunded_cancelled_and_expire_and_the_records_agree(cluster, site, provider, tmp_path):
    sale, quick = site.open_sale(), site.open_sale(payment_window_s=5)
    operator = operator_of(cluster, tmp_path)
    buyers = {fate: site.buyer() for fate in ("paid", "refunded", "cancelled", "expired")}
    orders = {}
    for fate, buyer in buyers.items():
        bought = answered(buyer, quick if fate == "expired" else sale).json["id"]
        orders[fate] = order = ordered(buyer, bought)["order"]["id"]
        if fate in ("paid", "refunded"):
            provider.act(buyer.post(f"/v1/orders/{order}/payments").json["id"], "capture")
            becomes(buyer, order, "paid")
    assert operator("order", "refund", orders["refunded"], "--reason", "damaged").returncode == 0
    assert buyers["cancelled"].post(f"/v1/orders/{orders['cancelled']}/cancel").status == 200
    for fate, buyer in buyers.items():
        becomes(buyer, orders[fate], fate)
    for one, units_sold in ((sale, 1), (quick, 0)):
        eventually("nothing is on its way", lambda: is_settled(cluster, one, ["phone"]))
        site.stock_becomes(one, units_sold=units_sold, units_available=10 - units_sold)
        for command in ("reconcile", "replay"):
            done = operator(command, one)
            assert done.returncode == 0, done.stdout + done.stderr


def test_a_pause_holds_at_every_gate(site):
    sale = site.open_sale()
    site.act(sale, "pause")
    gates = [site.at_gate(gate, site.buyer()) for gate in (0, 1)]
    for gate in gates:
        eventually("the gate knows of the pause", lambda: answered(gate, sale).code == "paused")
    site.act(sale, "resume")
    for gate in gates:
        eventually("the gate sells again", lambda: answered(gate, sale).status == 202)


def restart_workers(cluster, **settings) -> None:
    for worker in cluster.workers:
        worker.stop()
        worker.settings = {**worker.settings, **settings}
        worker.start()


def test_sweepers_whose_clocks_are_wrong_close_no_sale_and_end_no_order(cluster, site, tmp_path):
    sale, quick = site.open_sale(), site.open_sale(payment_window_s=5)
    buyer, hasty = site.buyer(), site.buyer()
    order = ordered(buyer, answered(buyer, sale).json["id"])["order"]["id"]
    before, clock = cluster.workers[0].settings, SkewedClock(tmp_path)
    restart_workers(cluster, **clock.settings())
    try:
        clock.set(+7200)
        # One of them is on duty: it ends this one, in its own time.
        becomes(hasty, ordered(hasty, answered(hasty, quick).json["id"])["order"]["id"], "expired")
        assert found(buyer, f"/v1/orders/{order}")["state"] == "pending_payment"
        assert site.anyone.get(f"/v1/sales/{sale}").json["state"] == "open"
    finally:
        clock.set(0)
        for worker in cluster.workers:
            worker.settings = before
        restart_workers(cluster)


def test_a_process_that_stops_gives_its_numbers_back(cluster):
    def numbers(process) -> int:
        return int(cluster.engines.postgres.ask("SELECT count(*) FROM node_leases WHERE expires_at > clock_timestamp() "
                                                f"AND owner LIKE '% process {process}'"))
    for node, count in ((cluster.workers[0], 2), (cluster.gates[1], 1)):
        process = node.process.pid
        assert numbers(process) == count
        node.stop()
        assert numbers(process) == 0
        node.start()


def test_nginx_serves_published_pages_beside_the_gates(cluster, site, tmp_path):
    sale = site.open_sale()
    folder = tmp_path / "site"
    done = subprocess.run(
        [BINARY, "publish", sale, "--out", folder], capture_output=True, text=True, cwd=tmp_path, env=clean_environment(
            DOORBUSTER_ADMIN__LISTEN=f"127.0.0.1:{cluster.admin_port}", DOORBUSTER_ADMIN__KEY=cluster.admin_key))
    assert done.returncode == 0, done.stderr
    with Nginx(tmp_path / "nginx", deployed(cluster.ports.gates, folder)).start() as nginx:
        anyone = Client(nginx.port, "public")
        page = anyone.get(f"/sales/{sale}")
        assert page.body == (folder / "sales" / f"{sale}.html").read_bytes()
        assert "max-age" in page.headers["cache-control"] and "content-security-policy" in page.headers
        assert json.loads(anyone.get(f"/v1/sales/{sale}").body)["id"] == sale
        anyone.close()


def followed(buyer, purchase: str) -> EventStream:
    """A stream is refused as a look-up is: see `found`."""
    def opened():
        stream = EventStream(buyer, purchase)
        if stream.status == 200:
            return stream
        stream.close()
        assert stream.status == 503, stream.answer
        return None
    return eventually("the purchase can be followed", opened)


def test_the_order_is_told_on_the_stream_of_whichever_gate_has_the_buyer(site):
    sale = site.open_sale(items=[item_terms(units_total=10)])
    for gate in (0, 1, 0, 1):
        buyer = site.at_gate(gate, site.buyer())
        stream = followed(buyer, answered(site.at_gate(1 - gate, buyer), sale).json["id"])
        assert stream.until("ordered").data["status"] == "ordered"
        stream.close()

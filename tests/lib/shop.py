"""A server, its operator and its buyers, in a few words."""
import datetime
import itertools
import json
import re
import time
import uuid

from lib import jwt
from lib.client import Answer, Client
from lib.server import Server

POLL_S = 0.02
EVENTUALLY_S_MAX = 90  # a bound on a hang: under a sanitizer everything takes ten times as long


def instant(seconds_from_now: float) -> str:
    moment = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=seconds_from_now)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def eventually(what: str, probe):
    """Asks until the answer is true, and returns it. Fails with `what` if it never is."""
    deadline = time.monotonic() + EVENTUALLY_S_MAX
    while True:
        result = probe()
        if result:
            return result
        assert time.monotonic() < deadline, f"never came true: {what}"
        time.sleep(POLL_S)


def item_terms(item: str = "phone", **changes) -> dict:
    return {"id": item, "name": item.capitalize(), "price_minor": 999900, "original_price_minor": 1599900,
            "currency": "TWD", "units_total": 10, "units_per_buyer_max": 1, "orders_max": 0, **changes}


def sale_terms(**changes) -> dict:
    """A valid sale that opened a minute ago and closes in an hour."""
    return {"id": f"drop-{uuid.uuid4().hex[:12]}", "title": "Phone drop", "opens_at": instant(-60),
            "closes_at": instant(3600), "warm_before_s": 1800, "stock_policy": "reserve",
            "payment_window_s": 900, "human_check": "none", "items": [item_terms()], **changes}


class Shop:
    def __init__(self, server: Server, contract=None):
        self.server, self.contract = server, contract
        self._buyers = itertools.count(1)
        self._clients = []

    def start(self) -> "Shop":
        self.server.start()
        if self.contract is not None and self.contract.document is None:
            plain = Client(self.server.public_port, "public")
            self.contract.load(json.loads(plain.get("/openapi.json").body))
            plain.close()
        self.admin = self.admin_with(self.server.admin_key)
        self.anyone = self._client("public", self.server.public_port, None)
        return self

    def restart(self) -> "Shop":
        return self.start()

    def figure(self, name: str, **labels: str) -> int:
        """A sum over the series of a metric that carry these labels; 0 if there is none."""
        page = self.admin.get("/metrics").body.decode()
        assert f"\n# TYPE {name} " in page, f"there is no metric {name}"
        total = 0
        for found in re.finditer(rf"^{name}(?:{{(.*)}})? (\S+)$", page, re.MULTILINE):
            said = dict(re.findall(r'(\w+)="([^"]*)"', found[1] or ""))
            if all(said.get(label) == value for label, value in labels.items()):
                total += int(float(found[2]))
        return total

    def admin_with(self, key) -> Client:
        return self._client("admin", self.server.admin_port, key)

    def buyer(self, name: str = None, **more) -> Client:
        """A new buyer, or the one of that name, on a connection of its own."""
        name = name or f"buyer-{next(self._buyers)}-{uuid.uuid4().hex[:8]}"
        client = self.public_with(jwt.mint(self.server.hmac_secret, name), **more)
        client.name = name
        return client

    def public_with(self, token, **more) -> Client:
        return self._client("public", self.server.public_port, token, **more)

    def _client(self, listener, port, bearer, **more) -> Client:
        client = Client(port, listener, bearer, self.contract, **more)
        self._clients.append(client)
        return client

    def create_sale(self, **changes) -> str:
        terms = sale_terms(**changes)
        answer = self.admin.post("/v1/sales", terms)
        assert answer.status == 201, answer.body
        return terms["id"]

    def open_sale(self, **changes) -> str:
        sale = self.create_sale(**changes)
        self.act(sale, "warm")
        self.act(sale, "open")
        return sale

    def act(self, sale: str, verb: str, **more) -> Answer:
        answer = self.admin.post(f"/v1/sales/{sale}/{verb}", **more)
        assert answer.status == 200, (verb, answer.body)
        return answer

    def version_of(self, sale: str) -> str:
        return self.admin.get(f"/v1/sales/{sale}").headers["etag"]

    def restock(self, sale: str, units: int, item: str = "phone") -> Answer:
        return self.admin.post(f"/v1/sales/{sale}/restock", {"item": item, "units": units},
                               headers={"If-Match": self.version_of(sale)})

    def stock(self, sale: str, item: str = "phone") -> dict:
        """By the live figures; P1 is checked on the way."""
        items = self.admin.get(f"/v1/sales/{sale}/status").json["items"]
        found = next(entry for entry in items if entry["id"] == item)
        assert found["units_total"] == found["units_available"] + found["units_held"] + found["units_sold"]
        return found

    def stock_becomes(self, sale: str, item: str = "phone", **figures: int) -> None:
        """A payment or a release is in the order first, and in the book's figures a moment later."""
        def found() -> bool:
            stock = self.stock(sale, item)
            return all(stock[name] == units for name, units in figures.items())
        eventually(f"the stock of {sale} is {figures}", found)

    def units_are_back(self, sale: str, units_available: int) -> None:
        """They can be bought, and whoever gave them back may buy again."""
        self.stock_becomes(sale, units_available=units_available)

    def strikes_are_known(self) -> None:
        """Wherever a buyer asks next, what he did before counts."""

    def close(self) -> None:
        for client in self._clients:
            client.close()
        self._clients.clear()


def reloaded(shop: Shop) -> tuple:
    """The server reads its configuration again: the options that changed, and those that wait for a restart."""
    answer = shop.admin.post("/v1/reload")
    assert answer.status == 200, answer.body
    return answer.json["changed"], answer.json["needs_restart"]


def buy(buyer: Client, sale: str, item: str = "phone", key: str = None, **body) -> Answer:
    headers = {"Idempotency-Key": key} if key else {}
    return buyer.post(f"/v1/sales/{sale}/purchases", {"item": item, **body}, headers=headers)


def ordered(buyer: Client, purchase: str) -> dict:
    """The purchase, once it has become an order, which may have ended since. What is busy is asked again, as buyers do."""
    def probe():
        answer = buyer.get(f"/v1/purchases/{purchase}")
        if answer.status == 503:
            return None
        assert answer.status == 200, answer.body
        return answer.json if answer.json["order"] else None
    return eventually(f"purchase {purchase} is ordered", probe)

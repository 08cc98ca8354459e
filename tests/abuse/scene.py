"""A scene: honest buyers beside an attack, and the audit that nothing but what they bought is gone."""
import re
import resource
from pathlib import Path

from lib.client import Answer, Client
from lib.shop import Shop, buy, eventually, item_terms


def memory_bytes(shop: Shop) -> int:
    """What the server has in memory."""
    statm = Path(f"/proc/{shop.server.process.pid}/statm").read_text()
    return int(statm.split()[1]) * resource.getpagesize()


def wakeups(shop: Shop, thread: str) -> int:
    """How often the threads of this name had something to do: each time, they go back to waiting."""
    total = 0
    for task in Path(f"/proc/{shop.server.process.pid}/task").iterdir():
        if (task / "comm").read_text().strip() == thread:
            total += int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", (task / "status").read_text(), re.MULTILINE)[1])
    return total


class Scene:
    """Everything that takes a unit in a test goes through `bought`; the audit compares with that."""

    def __init__(self, shop: Shop):
        self.shop = shop
        self._bought = {}  # (sale, item) -> {purchase id: units}
        self._released = 0  # purchases that were accepted and whose units are back
        self._before = self._server()

    def _server(self) -> dict:
        return {"acceptances_total": self.shop.figure("doorbuster_acceptances_total"),
                "ordered": self.shop.figure("doorbuster_orders_total", outcome="ordered"),
                "cancelled": self.shop.figure("doorbuster_orders_total", outcome="cancelled"),
                "dead_letter": self.shop.figure("doorbuster_orders_total", outcome="dead_letter")}

    def _since(self) -> dict:
        return {name: value - self._before[name] for name, value in self._server().items()}

    def sale(self, state: str = "open", **terms) -> str:
        """A sale of this scene; `state` is how far the operator takes it: draft, ready or open."""
        sale = self.shop.create_sale(**terms)
        if state != "draft":
            self.shop.act(sale, "warm")
        if state == "open":
            self.shop.act(sale, "open")
        for item in terms.get("items", [item_terms()]):
            self._bought[sale, item["id"]] = {}
        return sale

    def bought(self, sale: str, answer: Answer, item: str = "phone", quantity: int = 1) -> str:
        """Notes an honest purchase: `answer` must be the yes to it."""
        assert answer.status == 202, (answer.status, answer.body)
        purchase = answer.json["id"]
        self._bought[sale, item][purchase] = quantity
        return purchase

    def released(self, order: dict) -> None:
        """Notes that this order has ended and its units are back."""
        del self._bought[order["sale"], order["item"]][order["purchase"]]
        self._released += 1

    def honest(self, sale: str, buyer: Client = None, item: str = "phone", **more) -> str:
        """The positive control: somebody honest buys one, right now, and gets it."""
        buyer = buyer or self.shop.buyer()
        return self.bought(sale, buy(buyer, sale, item, **more), item)

    def audit(self) -> None:
        """Stock, holds and orders are as if only the honest purchases had ever come."""
        for (sale, item), purchases in self._bought.items():
            units = sum(purchases.values())
            # The shop's stock adds up, so what is not available is held or sold.
            total = self.shop.stock(sale, item)["units_total"]
            self.shop.stock_becomes(sale, item, units_available=total - units)
        honest = self._released + sum(len(purchases) for purchases in self._bought.values())

        def all_ordered():
            now = self._since()  # an answer can be quicker than the count of it
            return now["acceptances_total"] == now["ordered"] >= honest
        eventually("every acceptance has become an order", all_ordered)
        now = self._since()
        assert now == {"acceptances_total": honest, "ordered": honest, "cancelled": 0, "dead_letter": 0}, now

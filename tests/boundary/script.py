"""One small sale by a fixed script, that goes on where a crash has stopped it.

A step that heard no answer is taken again after the restart: a purchase with the same key,
an operator's word after a look at what became of it. So the script ends the same way
wherever it was interrupted, and every step knows what it must hear.
"""
import http.client
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from lib import jwt
from lib.client import Answer, Client
from lib.server import Server
from lib.shop import eventually, instant, item_terms, sale_terms

SALE = "boundary-drop"
UNITS = {"phone": 8, "cable": 2}
RESTOCKED = 3  # phones
BURST = ("cid", "dan", "eve", "fay")


class Unanswered(Exception):
    """The server is gone, or said that it does not know."""


class Unexpected(Exception):
    """An answer that a sale which keeps its promises would not have given."""


def changed_at(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except FileNotFoundError:
        return 0  # a power cut took it just now


class Script:
    """Writes the histories that checker.py judges; the lines are those of the crash run's buyers."""

    def __init__(self, server: Server):
        self.server = server
        self.history, self.restocks = [], []
        self.bought = {}  # key -> purchase id
        self._clients = {}
        self._unresolved = None  # the restock whose answer was lost
        self._meets_checkpoint = False
        self._step = 0
        self._steps = [
            self.create,
            lambda: self.say("warm", "ready"),
            lambda: self.say("open", "open"),
            lambda: self.buy("ann", "phone", 1, "first"),
            lambda: self.buy("ann", "phone", 1, "first"),
            lambda: self.buy("bob", "phone", 2, "first"),
            lambda: self.buy("bob", "phone", 1, "second", refused="limit_reached"),
            self.burst,
            lambda: self.see_ordered("ann", "first"),
            lambda: self.cancel("ann", "phone", 1, "first"),
            lambda: self.buy("ann", "phone", 1, "first"),  # finished, and still the same purchase
            lambda: self.say("pause", "paused"),
            lambda: self.buy("gus", "phone", 1, "first", refused="paused"),
            lambda: self.say("resume", "open"),
            self.look_at_databases,
            lambda: self.buy("gus", "phone", 1, "first"),
            lambda: self.buy("hal", "phone", 2, "first", refused="sold_out"),  # one is left
            self.be_quiet,
            self.restock,
            lambda: self.buy("hal", "phone", 2, "first"),
            lambda: self.buy("ann", "cable", 1, "cable"),
            lambda: self.buy("ida", "cable", 1, "first"),
            lambda: self.buy("jon", "cable", 1, "first", refused="sold_out"),
            *(lambda name=name: self.see_ordered(name, "first") for name in ("bob", *BURST, "gus", "hal", "ida")),
        ]

    def run(self, meets_checkpoint: bool) -> None:
        """From the step that was interrupted to the end."""
        self._meets_checkpoint = meets_checkpoint
        self._connect()
        while self._step < len(self._steps):
            self._steps[self._step]()
            self._step += 1

    def sell_the_rest(self) -> None:
        """What the figures call available can be bought, to the unit."""
        for entry in self._status()["items"]:
            for number in range(entry["units_available"]):
                self.buy(f"last-{entry['id']}-{number}", entry["id"], 1, "first")
            self.buy("too-late", entry["id"], 1, entry["id"], refused="sold_out")

    def close(self) -> None:
        for client in self._clients.values():
            client.close()
        self._clients.clear()

    # The buyers.

    def buy(self, name: str, item: str, units: int, key: str, refused: str = None) -> None:
        key = f"{name}-{key}"
        line = {"kind": "purchase", "buyer": name, "item": item, "units": units, "key": key}
        answer = self._ask(line, self._buyer(name), "POST", f"/v1/sales/{SALE}/purchases",
                           {"item": item, "quantity": units}, {"Idempotency-Key": key})
        if answer.status == 202:
            line.update(id=answer.json["id"], sequence=answer.json["sequence"])
            self.bought[key] = answer.json["id"]
        elif answer.json.get("purchase"):
            line.update(names=answer.json["purchase"])
        if answer.code != refused:
            raise Unexpected(f"{key} should hear {refused or 'yes'}, not {answer.body}")

    def burst(self) -> None:
        """At once, so that one commit may carry several."""
        with ThreadPoolExecutor(len(BURST)) as crowd:
            asked = [crowd.submit(self.buy, name, "phone", 1, "first") for name in BURST]
        for each in asked:
            each.result()

    def see_ordered(self, name: str, key: str) -> dict:
        purchase = self.bought[f"{name}-{key}"]

        def look():
            line = {"kind": "look", "buyer": name, "id": purchase}
            answer = self._ask(line, self._buyer(name), "GET", f"/v1/purchases/{purchase}")
            if answer.status != 200:
                raise Unexpected(f"{purchase} was promised: {answer.body}")
            line.update(state=answer.json["status"])
            return answer.json if answer.json["status"] != "accepted" else None
        order = eventually(f"{purchase} is ordered", look)["order"]
        if order is None:
            raise Unexpected(f"{purchase} was promised and has no order")
        return order

    def cancel(self, name: str, item: str, units: int, key: str) -> None:
        order = self.see_ordered(name, key)
        line = {"kind": "cancel", "buyer": name, "order": order["id"], "id": order["purchase"], "units": units,
                "item": item}
        answer = self._ask(line, self._buyer(name), "POST", f"/v1/orders/{order['id']}/cancel")
        if answer.status != 200:
            raise Unexpected(f"the order {order['id']} cannot be cancelled: {answer.body}")

    # The operator.

    def create(self) -> None:
        if self._operator("GET", f"/v1/sales/{SALE}").status == 404:
            terms = sale_terms(id=SALE, opens_at=instant(3600), closes_at=instant(7200), warm_before_s=0,
                               items=[item_terms(name, units_total=units, units_per_buyer_max=2)
                                      for name, units in UNITS.items()])
            created = self._operator("POST", "/v1/sales", terms)
            if created.status != 201:
                raise Unexpected(f"the sale cannot be created: {created.body}")
        for name, units in UNITS.items():
            self.restocks.append({"item": name, "units": units, "sent": 0, "heard": time.monotonic_ns(),
                                  "status": 201})

    def say(self, verb: str, leads_to: str) -> None:
        """A verb that took effect before its answer was lost is no error when it is said again."""
        answer = self._operator("POST", f"/v1/sales/{SALE}/{verb}")
        if answer.status != 200 or answer.json["state"] != leads_to:
            raise Unexpected(f"{verb} should lead to {leads_to}: {answer.body}")

    def restock(self) -> None:
        """Ten more must not become twenty: after a lost answer the total tells whether they came."""
        if self._unresolved is not None:
            line, self._unresolved = self._unresolved, None
            total = next(entry["units_total"] for entry in self._status()["items"] if entry["id"] == "phone")
            if total != UNITS["phone"]:
                line.update(status=200)
                return
            self.restocks.remove(line)
        version = self._operator("GET", f"/v1/sales/{SALE}").headers["etag"]
        self._unresolved = {"item": "phone", "units": RESTOCKED, "sent": time.monotonic_ns(), "status": None}
        self.restocks.append(self._unresolved)
        try:
            answer = self._operator("POST", f"/v1/sales/{SALE}/restock", {"item": "phone", "units": RESTOCKED},
                                    {"If-Match": version})
            self._unresolved.update(status=answer.status)
        finally:
            self._unresolved.update(heard=time.monotonic_ns())
        if answer.status != 200:
            raise Unexpected(f"the item cannot be restocked: {answer.body}")
        self._unresolved = None

    def look_at_databases(self) -> None:
        """Before the last writes to both of them: a second of silence behind these is enough for a checkpoint, and a busy
        machine may be silent for as long by itself."""
        self._looked_at = {path: changed_at(path)
                           for path in (self.server.data / name for name in ("ledger.db", "orders.db"))}

    def be_quiet(self) -> None:
        """Until the server uses the silence to checkpoint both logs.

        After a restart it may have written to one of them only, or to none, and there is nothing to wait for.
        """
        if not self._meets_checkpoint:
            return

        def is_done():
            if not self.server.running():
                raise Unanswered
            return all(changed_at(path) > then for path, then in self._looked_at.items())
        eventually("both logs are checkpointed", is_done)

    # The wire.

    def _connect(self) -> None:
        self.close()
        self._admin = self._clients["the operator"] = Client(self.server.admin_port, "admin", self.server.admin_key)

    def _buyer(self, name: str) -> Client:
        if name not in self._clients:
            self._clients[name] = Client(self.server.public_port, "public", jwt.mint(self.server.hmac_secret, name))
        return self._clients[name]

    def _status(self) -> dict:
        return self._operator("GET", f"/v1/sales/{SALE}/status").json

    def _operator(self, method: str, path: str, body=None, headers: dict = None) -> Answer:
        return self._answer(self._admin, method, path, body, headers)

    def _ask(self, line: dict, client: Client, method: str, path: str, body=None, headers: dict = None) -> Answer:
        line.update(sent=time.monotonic_ns(), status=None, code=None)
        self.history.append(line)
        try:
            answer = self._answer(client, method, path, body, headers)
            line.update(status=answer.status, code=answer.code)
            return answer
        finally:
            line.update(heard=time.monotonic_ns())

    @staticmethod
    def _answer(client: Client, method: str, path: str, body, headers) -> Answer:
        try:
            answer = client.request(method, path, body=body, headers=headers)
        except (OSError, http.client.HTTPException) as error:
            raise Unanswered from error
        if answer.status == 503:
            raise Unanswered(answer.body)
        return answer

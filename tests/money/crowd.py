"""Buyers who pay, change their minds, decline, pay twice, pay late or never, whatever breaks meanwhile.

Each hangs on through crashes of the server and of the provider's answers as a person with a
browser would: asks again, with the same key.
"""
import http.client
import random
import threading
import time
from dataclasses import dataclass, field

from lib import jwt
from lib.client import Client

PAUSE_S = 0.05  # between two tries of somebody who heard nothing
PATIENCE_S = 120

# What a buyer does once the order is there, and how many of a hundred do it.
MANNERS = {"pay": 52, "decline_then_pay": 9, "try_again_on_the_page": 5, "forget": 8, "leave_the_page": 8,
           "cancel": 5, "cancel_while_paying": 5, "pay_and_cancel": 4, "pay_late": 4}


class Server:
    """Where the server is now; a dead one is waited for."""

    def __init__(self, port: int, secret: str):
        self.port, self.secret = port, secret
        self.is_up = threading.Event()


@dataclass
class Told:
    """What buyers were told: a yes is a promise."""
    accepted: set = field(default_factory=set)  # purchases
    pressed_pay: set = field(default_factory=set)  # orders whose buyer's capture the provider took
    lock: threading.Lock = field(default_factory=threading.Lock)


class Buyer:
    def __init__(self, name: str, server: Server, provider, told: Told, choice: random.Random):
        self.name, self.server, self.provider, self.told, self.choice = name, server, provider, told, choice
        self.token = jwt.mint(server.secret, name)
        self.deadline = time.monotonic() + PATIENCE_S

    def _until(self, what: str, ask):
        """Asks until there is an answer that is final for this question."""
        while time.monotonic() < self.deadline:
            self.server.is_up.wait(PATIENCE_S)
            try:
                answer = ask()
            except (OSError, http.client.HTTPException):
                answer = None
            if answer is not None and answer.status != 503:
                return answer
            time.sleep(PAUSE_S)  # nothing was heard: try again as a browser would
        raise AssertionError(f"{self.name} never got an answer: {what}")

    def _call(self, method: str, path: str, body=None, key=None):
        client = Client(self.server.port, "public", self.token)
        try:
            return client.request(method, path, body, headers={"Idempotency-Key": key} if key else {})
        finally:
            client.close()

    def shop_at(self, sale: str, manner: str = None) -> None:
        bought = self._until("a purchase", lambda: self._call("POST", f"/v1/sales/{sale}/purchases",
                                                              {"item": "phone"}, key="k"))
        if bought.status != 202:
            assert bought.code in ("sold_out", "sold_out_for_now"), bought.body
            return
        with self.told.lock:
            self.told.accepted.add(bought.json["id"])
        order = self._order(bought.json["id"])
        if order is not None:
            manner = manner or self.choice.choices(list(MANNERS), list(MANNERS.values()))[0]
            getattr(self, "_" + manner)(order)

    def _order(self, purchase: str):
        while time.monotonic() < self.deadline:
            seen = self._until("the purchase", lambda: self._call("GET", f"/v1/purchases/{purchase}"))
            assert seen.status == 200, seen.body
            if seen.json["status"] != "accepted":
                return seen.json["order"]["id"] if seen.json["order"] else None
            time.sleep(PAUSE_S)
        raise AssertionError(f"purchase {purchase} never became an order")

    def _open(self, order: str):
        """The attempt, or None if the order cannot be paid any more."""
        answer = self._until("a payment", lambda: self._call("POST", f"/v1/orders/{order}/payments"))
        assert answer.status in (200, 409), answer.body
        return answer.json["id"] if answer.status == 200 else None

    def _press(self, order: str, payment: str, verb: str) -> None:
        """On the provider's page; what it did is the provider's to know."""
        while time.monotonic() < self.deadline:
            try:
                status = self.provider.act(payment, verb).status
            except (OSError, http.client.HTTPException):
                status = None
            if status is not None and status != 503:
                if verb == "capture" and status == 200:
                    with self.told.lock:
                        self.told.pressed_pay.add(order)
                return
            time.sleep(PAUSE_S)

    def _cancel(self, order: str) -> None:
        answer = self._until("a cancellation", lambda: self._call("POST", f"/v1/orders/{order}/cancel"))
        assert answer.status in (200, 409), answer.body

    def _pay(self, order: str) -> None:
        if payment := self._open(order):
            self._press(order, payment, "capture")

    def _decline_then_pay(self, order: str) -> None:
        if payment := self._open(order):
            self._press(order, payment, "decline")
            self._pay(order)

    def _try_again_on_the_page(self, order: str) -> None:
        if payment := self._open(order):
            self._press(order, payment, "decline")
            self._press(order, payment, "capture")

    def _forget(self, order: str) -> None:
        pass

    def _leave_the_page(self, order: str) -> None:
        self._open(order)

    def _cancel_while_paying(self, order: str) -> None:
        if self._open(order):
            self._cancel(order)

    def _pay_and_cancel(self, order: str) -> None:
        if payment := self._open(order):
            self._press(order, payment, "capture")
            self._cancel(order)

    def _pay_late(self, order: str) -> None:
        payment = self._open(order)
        while payment and time.monotonic() < self.deadline:
            seen = self._until("the order", lambda: self._call("GET", f"/v1/orders/{order}"))
            if seen.json["state"] not in ("pending_payment", "paying"):
                break
            time.sleep(PAUSE_S)
        if payment:
            self._press(order, payment, "capture")

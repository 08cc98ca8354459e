"""Buyers in a process of their own: real connections, their own histories, no mercy.

Each place in the crowd is one buyer after another on one connection. A buyer buys,
repeats with the same key, tries again with a new one, looks orders up and cancels.
Every request goes into the history file when it is over: what was asked, and what was
heard, or that nothing was. The judge reads nothing else about the clients.

A line of a history, times in nanoseconds of the machine's monotonic clock:
  {"kind":"purchase","buyer","item","units","key","sent","heard","status","code","id","sequence"}
  {"kind":"look","buyer","id","sent","heard","status","code","state"}
  {"kind":"cancel","buyer","order","id","units","item","sent","heard","status","code"}
`status` is null where the connection broke before an answer came.
"""
import asyncio
import json
import random
import time
from dataclasses import dataclass, field

from lib import jwt

PAUSE_S_MAX = 0.25
ANSWER_S_MAX = 30
RUSH_BUYERS = 90  # of the places; the others go on as before


@dataclass
class Plan:
    """What a crowd needs to know; fixed for the whole run."""
    number: int  # of the crowd
    seed: int
    history: str
    places: int
    hmac_secret: str
    sale: str
    items: list
    units_per_buyer_max: int
    called: str = "buyer"  # what their names begin with: who is of another run is another buyer
    comes_from_afar: bool = False  # each place from an address of its own, for a proxy that limits addresses


@dataclass
class Buyer:
    name: str
    token: str
    keys: int = 0
    unheard: list = field(default_factory=list)  # purchases without an answer
    won: list = field(default_factory=list)  # purchases answered 202


class Broken(Exception):
    """The connection ended before the answer was there."""


class Connection:
    def __init__(self, reader, writer):
        self.reader, self.writer = reader, writer

    async def ask(self, method: str, path: str, token: str, body=None, key: str = None):
        lines = [f"{method} {path} HTTP/1.1", "Host: localhost", f"Authorization: Bearer {token}"]
        content = b"" if body is None else json.dumps(body).encode()
        if body is not None:
            lines.append("Content-Type: application/json")
        if method == "POST":
            lines.append(f"Content-Length: {len(content)}")
        if key:
            lines.append(f"Idempotency-Key: {key}")
        try:
            self.writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + content)
            return await asyncio.wait_for(self._answer(), ANSWER_S_MAX)
        except (OSError, asyncio.IncompleteReadError) as error:
            raise Broken from error

    async def _answer(self):
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        length, closes = 0, False
        for line in head.split("\r\n")[1:]:
            name, _, value = line.partition(":")
            if name.lower() == "content-length":
                length = int(value)
            elif name.lower() == "connection":
                closes = value.strip().lower() == "close"
        content = await self.reader.readexactly(length)
        if closes:
            self.writer.close()
        return int(head.split(" ", 2)[1]), (json.loads(content) if content else {})


class Crowd:
    def __init__(self, plan: Plan, pipe):
        self.plan, self.pipe = plan, pipe
        self.port = None
        self.ended = False
        self.selling = asyncio.Event()
        self.parked = 0
        self.all_parked = asyncio.Event()
        self.rush_in = None  # how many may still join the rush
        self.rushing = asyncio.Event()
        self.history = open(plan.history, "a", buffering=1 << 16)

    async def run(self):
        asyncio.get_running_loop().add_reader(self.pipe.fileno(), self._told)
        await asyncio.gather(*(self._place(number) for number in range(self.plan.places)))
        self.history.close()
        self.pipe.send("ended")

    def _told(self):
        word, *more = self.pipe.recv()
        if word == "go":
            self.port = more[0]
            self.selling.set()
        elif word == "rush":
            self.rush_in = RUSH_BUYERS
            self.rushing.clear()
            asyncio.get_running_loop().call_later(PAUSE_S_MAX, self._rush)
        elif word == "halt":
            # The server is dead: connections break by themselves, and nobody dials again.
            self.selling.clear()
            self.rush_in = None
            self.rushing.set()
            asyncio.ensure_future(self._report_quiet())
        elif word == "end":
            self.ended = True
            self.selling.set()
            self.rushing.set()

    def _rush(self):
        if self.rush_in is not None:
            self.rush_in = None
            self.pipe.send("rush")
            self.rushing.set()

    async def _report_quiet(self):
        await self.all_parked.wait()
        self.history.flush()
        self.pipe.send("quiet")

    async def _place(self, number: int):
        choice = random.Random(f"{self.plan.seed}-{self.plan.number}-{number}")
        buyer, serial = None, 0
        while True:
            self.parked += 1
            if self.parked == self.plan.places:
                self.all_parked.set()
            await self.selling.wait()
            self.parked -= 1
            self.all_parked.clear()
            if self.ended:
                return
            connection = None
            try:
                connection = Connection(*await asyncio.open_connection("127.0.0.1", self.port,
                                                                       local_addr=self._address(number)))
                while self.selling.is_set() and not self.ended and not connection.writer.is_closing():
                    await asyncio.sleep(choice.uniform(0, PAUSE_S_MAX))
                    joins = bool(self.rush_in)
                    # A buyer who leaves without an answer leaves a purchase that only the judge can find.
                    if buyer is None or joins or choice.random() < (0.01 if buyer.unheard else 0.08):
                        serial += 1
                        name = f"{self.plan.called}-{self.plan.number}-{number}-{serial}"
                        buyer = Buyer(name, jwt.mint(self.plan.hmac_secret, name, lifetime_s=86400))
                    if joins:
                        self.rush_in -= 1
                        await self.rushing.wait()
                        await self._buy_new(choice, buyer, connection)
                    else:
                        await self._act(choice, buyer, connection)
            except (Broken, OSError):
                # Dead, or about to be: wait for the word rather than dial in a circle.
                await asyncio.sleep(0.005)
            finally:
                if connection is not None:
                    connection.writer.close()

    def _address(self, number: int):
        if not self.plan.comes_from_afar:
            return None
        return f"127.{100 + self.plan.number}.{number // 200}.{number % 200 + 1}", 0

    async def _act(self, choice, buyer, connection):
        if buyer.unheard and choice.random() < 0.8:
            await self._buy(buyer, connection, *buyer.unheard[-1])
            return
        what = choice.random()
        if what < 0.6 or not buyer.won:
            await self._buy_new(choice, buyer, connection)
        elif what < 0.72:
            await self._buy(buyer, connection, *choice.choice(buyer.won)[1])
        elif what < 0.82:
            await self._look(buyer, connection, choice.choice(buyer.won)[0])
        else:
            await self._cancel_one(choice, buyer, connection)

    async def _buy_new(self, choice, buyer, connection):
        buyer.keys += 1
        item = choice.choices(self.plan.items, weights=range(len(self.plan.items), 0, -1))[0]
        units = choice.randint(1, self.plan.units_per_buyer_max)
        await self._buy(buyer, connection, item, units, f"{buyer.name}-{buyer.keys}")

    async def _buy(self, buyer, connection, item, units, key):
        wish = (item, units, key)
        line = {"kind": "purchase", "buyer": buyer.name, "item": item, "units": units, "key": key}
        if wish not in buyer.unheard:
            buyer.unheard.append(wish)
        body = await self._ask(line, connection, "POST", f"/v1/sales/{self.plan.sale}/purchases", buyer.token,
                               {"item": item, "quantity": units}, key)
        if line["status"] == 202:
            line.update(id=body["id"], sequence=body["sequence"])
            if all(wish != won for _, won in buyer.won):
                buyer.won.append((body["id"], wish))
        elif line["code"] == "limit_reached" and body.get("purchase"):
            line.update(names=body["purchase"])
        # 503 `unknown` and its kin decide nothing: the same key is asked again.
        if line["status"] != 503:
            buyer.unheard.remove(wish)
        self._write(line)

    async def _look(self, buyer, connection, purchase):
        line = {"kind": "look", "buyer": buyer.name, "id": purchase}
        body = await self._ask(line, connection, "GET", f"/v1/purchases/{purchase}", buyer.token)
        line.update(state=body.get("status"))
        self._write(line)

    async def _cancel_one(self, choice, buyer, connection):
        line = {"kind": "orders", "buyer": buyer.name}
        body = await self._ask(line, connection, "GET", "/v1/orders?limit=5", buyer.token)
        self._write(line)
        active = [order for order in body.get("orders", []) if order["state"] == "pending_payment"]
        if not active:
            return
        order = choice.choice(active)
        line = {"kind": "cancel", "buyer": buyer.name, "order": order["id"], "id": order["purchase"],
                "units": order["quantity"], "item": order["item"]}
        await self._ask(line, connection, "POST", f"/v1/orders/{order['id']}/cancel", buyer.token)
        self._write(line)

    async def _ask(self, line, connection, method, path, token, body=None, key=None) -> dict:
        """Fills in what was heard; writes the line itself only if that is nothing."""
        line["sent"] = time.monotonic_ns()
        try:
            line["status"], content = await connection.ask(method, path, token, body, key)
        except (Broken, asyncio.TimeoutError):
            line.update(heard=time.monotonic_ns(), status=None, code=None)
            self._write(line)
            raise Broken from None
        line.update(heard=time.monotonic_ns(), code=content.get("code"))
        return content

    def _write(self, line):
        self.history.write(json.dumps(line) + "\n")


def crowd_process(plan: Plan, pipe) -> None:
    async def main():
        await Crowd(plan, pipe).run()
    asyncio.run(main())

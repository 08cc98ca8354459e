"""One round: a sale under load, a fault at a random moment, and everything counted afterwards."""
import contextlib
import http.client
import json
import random
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from engines.cluster import Cluster
from engines.engine import until
from judge import check_all
from lib import jwt
from lib.buyers import Plan
from lib.checker import Histories, Report
from lib.client import Client
from lib.crowds import Crowds
from lib.shop import instant, item_terms, sale_terms
from lib.cluster_records import is_settled, pending_takes, read_records, unhandled

CROWDS = 2
PLACES = 40  # per crowd
ITEMS = {"phone": 900, "watch": 200, "cable": 40}  # what the crowds buy
PROBE, PROBES_MAX = "probe", 2000
UNITS_PER_BUYER_MAX = 2
ACCEPTED_BEFORE, ACCEPTED_AFTER = 10, 10  # of the probe: the crowds have bought much more meanwhile
BACK_S_MAX = 300  # a bound on a hang
LAST_PLACES = 8
PAUSE_S = 0.02  # between two tries of one who heard no yes


def shows(gate: Client, sale: str, state: str) -> bool:
    """A gate hears of a new sale, and of what becomes of it, a moment after the one that made it."""
    answer = gate.get(f"/v1/sales/{sale}")
    return answer.status == 200 and answer.json["state"] == state


class Round:
    def __init__(self, cluster: Cluster, fault, folder: Path, seed: int):
        self.cluster, self.folder, self.seed = cluster, folder, seed
        self.choice = random.Random(seed)
        self.fault = fault(cluster, self.choice)
        self.terms = sale_terms(
            opens_at=instant(-3600), closes_at=instant(86400),
            items=[item_terms(name, units_total=units, units_per_buyer_max=UNITS_PER_BUYER_MAX)
                   for name, units in {**ITEMS, PROBE: PROBES_MAX}.items()])
        self.sale = self.terms["id"]
        self.items = [item["id"] for item in self.terms["items"]]
        self.histories = [folder / f"history-{number}.jsonl" for number in range(CROWDS)]
        self.own_lines = []  # what this process asked and heard
        self.restocks = []
        self.probes = 0
        self.report = Report()
        self.met = {}
        self.accepted_again_s = None
        self.last_sold = {}

    # The operator.

    def admin(self) -> Client:
        return Client(self.cluster.admin_port, "admin", self.cluster.admin_key)

    def open_sale(self) -> None:
        admin = self.admin()
        created = admin.post("/v1/sales", self.terms)
        assert created.status == 201, created.body
        for item in self.terms["items"]:
            self.restocks.append({"item": item["id"], "units": item["units_total"], "sent": 0,
                                  "heard": time.monotonic_ns(), "status": 201})
        admin.close()
        for port in self.cluster.ports.gates:
            gate = Client(port, "public")
            until(f"{self.sale} is open at every gate", lambda: shows(gate, self.sale, "open"))
            gate.close()

    def close_sale(self) -> None:
        """The next round's rebuild has enough to do with its own."""
        admin = self.admin()
        answer = admin.post(f"/v1/sales/{self.sale}/close")
        assert answer.status == 200, answer.body
        admin.close()

    # Somebody who buys until it works, and notes it as the crowds do.

    def buy(self, item: str, units: int, name: str) -> dict:
        line = {"kind": "purchase", "buyer": name, "item": item, "units": units, "key": name, "sent": time.monotonic_ns(),
                "status": None, "code": None}
        client = Client(self.cluster.nginx.port, "public", jwt.mint(self.cluster.hmac_secret, name),
                        source=f"127.99.{self.choice.randrange(250)}.{self.choice.randrange(1, 250)}")
        try:
            answer = client.post(f"/v1/sales/{self.sale}/purchases", {"item": item, "quantity": units},
                                 headers={"Idempotency-Key": name})
            line.update(status=answer.status, code=answer.json.get("code"))
            if answer.status == 202:
                line.update(id=answer.json["id"], sequence=answer.json["sequence"])
        except (OSError, http.client.HTTPException):
            pass
        finally:
            client.close()
        line["heard"] = time.monotonic_ns()
        self.own_lines.append(line)
        return line

    def accept(self, count: int) -> float:
        """Buys until so many were accepted. The seconds until the first was."""
        began, first = time.monotonic(), None

        def accepted():
            self.probes += 1
            return self.buy(PROBE, 1, f"{self.sale}-probe-{self.probes}")["status"] == 202
        for _ in range(count):
            until("a purchase is accepted", accepted, BACK_S_MAX)
            first = first if first is not None else time.monotonic() - began
        return first

    # The round.

    def run(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self.fault.prepare()
        self.open_sale()
        crowds = Crowds([Plan(number, self.seed, str(history), PLACES, self.cluster.hmac_secret, self.sale, list(ITEMS),
                              UNITS_PER_BUYER_MAX, self.sale, comes_from_afar=True) for number, history in enumerate(self.histories)])
        try:
            crowds.tell("go", self.cluster.nginx.port)
            self.accept(ACCEPTED_BEFORE)
            crowds.tell("rush")
            crowds.hear_first("rush")
            time.sleep(self.choice.uniform(0, 0.3))  # the random moment
            self.met = {"unordered": unhandled(self.cluster), "pending": pending_takes(self.cluster, self.sale, self.items)}
            try:
                self.fault.strike(self.accept)
            except BaseException:
                with contextlib.suppress(Exception):  # what went wrong first is told
                    self.fault.mend()  # the next round finds a whole cluster
                raise
            self.fault.mend()
            self.accepted_again_s = self.accept(1)
            self.accept(ACCEPTED_AFTER)
            crowds.tell("halt")
            crowds.hear("quiet")
            crowds.tell("end")
            crowds.hear("ended")
        finally:
            crowds.kill()
        self.settle()
        self.sell_the_rest()
        self.settle()
        self.judge()
        self.close_sale()

    def settle(self) -> None:
        until("nothing is on its way", lambda: is_settled(self.cluster, self.sale, self.items))

    def sell_the_rest(self) -> None:
        """P2 to the unit: exactly what the stock rows call available can be bought."""
        left = {item["id"]: item["units_available"] for item in read_records(self.cluster, self.sale).items}
        for item in ITEMS:
            with ThreadPoolExecutor(LAST_PLACES) as places:
                sold = sum(places.map(lambda place: self._buy_until_sold_out(item, place), range(LAST_PLACES)))
            self.last_sold[item] = (left[item], sold)

    def _buy_until_sold_out(self, item: str, place: int) -> int:
        sold, number, units = 0, 0, UNITS_PER_BUYER_MAX
        while True:
            number += 1
            line = self._decided(item, units, f"{self.sale}-last-{item}-{place}-{number}")
            if line["status"] == 202:
                sold += units
            elif line["code"] == "sold_out" and units > 1:
                units = 1
            else:
                assert line["code"] == "sold_out", line
                return sold

    def _decided(self, item: str, units: int, name: str) -> dict:
        """Asks with the same key until there is an answer that stands."""
        def decided():
            line = self.buy(item, units, name)
            return line if line["status"] in (202, 409) else None
        return until("the last purchases are decided", decided, BACK_S_MAX)

    def judge(self) -> None:
        records = read_records(self.cluster, self.sale)
        histories = Histories.read(self.histories)
        histories = Histories(histories.lines + self.own_lines)
        current = {item["id"]: item["epoch"] for item in records.items}
        self.report = check_all(records, histories, self.restocks, current if self.fault.loses_redis else {})
        self.accepted = len(histories.won)
        self.purchases = len(records.purchases)

    def told(self) -> str:
        broken = sum(map(len, self.report.faults.values()))
        return (f"{self.purchases} purchases, {self.accepted} heard yes; it met {self.met['unordered']} unordered and "
                f"{self.met['pending']} pending; accepted again after {self.accepted_again_s:.2f} s; {broken} promises broken")

    def write_histories(self) -> None:
        """Beside the crowds': what it takes to look into a failure."""
        (self.folder / "history-own.jsonl").write_text("".join(json.dumps(line) + "\n" for line in self.own_lines))

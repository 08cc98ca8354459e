#!/usr/bin/python3
"""The crash run: a real server under load, killed with SIGKILL again and again.

Two crowds of buyers, each a process of its own, buy from one server. At random moments,
or in the middle of a rush, the server is killed. When every client has noticed, the two
databases are copied and looked at, and the next server starts on the same folder. At the
end the load stops, the worker catches up, what is left is sold to the last unit, the
server stops in peace, and the judge (checker.py) compares histories and records.
  crash.py [--kills N] [--seed N] [--keep FOLDER]
"""
import argparse
import json
import random
import shutil
import sqlite3
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    sys.path.insert(0, str(Path(__file__).resolve().parent))

from checker import Histories, Report, check_all, check_records, read_records
from lib.buyers import Plan
from lib.client import Client
from lib.crowds import Crowds
from lib.server import Server
from lib.shop import eventually, instant, item_terms, sale_terms
from lib import jwt

CROWDS = 2
PLACES = 150  # per crowd
UNITS_PER_BUYER_MAX = 2
ITEMS = {"phone": 400, "watch": 300, "cable": 100}  # units at the start
ORDERS_PER_SECOND = 40  # slower than the buying, so that there is always a backlog to lose
SHARE_MET_MIN = 0.2  # of the kills, for each kind of danger
KILLS_TIMES_MAX = 3  # as many as were asked for: where a machine's own pace lets too few of them meet a danger


@dataclass
class Outcome:
    seed: int
    met_min: int  # kills that are to meet each kind of danger
    kills: int = 0
    met_unanswered: int = 0  # kills that met purchases accepted, but not yet answered
    met_unordered: int = 0  # kills that met purchases answered, but not yet ordered
    unanswered: int = 0
    unordered: int = 0
    while_starting: int = 0
    exit_status: int = None
    at_kills: Report = field(default_factory=Report)  # what the copies show
    at_end: Report = field(default_factory=Report)
    last_sold: dict = field(default_factory=dict)  # item -> (units left by the figures, units sold to the last)

    @property
    def met_enough(self) -> bool:
        return min(self.met_unanswered, self.met_unordered) >= self.met_min


class CrashRun:
    def __init__(self, folder: Path, kills: int, seed: int, say=print):
        self.folder, self.kills, self.choice, self.say = Path(folder), kills, random.Random(seed), say
        self.outcome = Outcome(seed, met_min=int(kills * SHARE_MET_MIN))
        self.server = Server(self.folder / "server",
                             DOORBUSTER_ORDERS__RATE_PER_SECOND_MAX=str(ORDERS_PER_SECOND),
                             DOORBUSTER_ORDERS__BATCH_MAX="16",  # bounds what a fresh server may place at once
                             DOORBUSTER_LOG__LEVEL="warn")
        self.terms = sale_terms(
            id="crash-drop", opens_at=instant(-3600), closes_at=instant(86400),
            items=[item_terms(name, units_total=units, units_per_buyer_max=UNITS_PER_BUYER_MAX)
                   for name, units in ITEMS.items()])
        self.sale = self.terms["id"]
        self.histories = [self.folder / f"history-{number}.jsonl" for number in range(CROWDS)]
        self.last_history = self.folder / "history-last.jsonl"
        self.restocks_file = self.folder / "restocks.jsonl"
        self.restocks = []
        self.read_until = [0] * CROWDS  # bytes of each history
        self.answered = set()  # purchase ids that some client heard 202 for
        self.position_seen = 0  # the ledger's end at the kill before
        self.crowds = None

    # The clients.

    def start_crowds(self) -> None:
        self.crowds = Crowds([Plan(number, self.outcome.seed, str(history), PLACES, self.server.hmac_secret, self.sale,
                                   list(ITEMS), UNITS_PER_BUYER_MAX) for number, history in enumerate(self.histories)])

    # The operator.

    def admin(self) -> Client:
        return Client(self.server.admin_port, "admin", self.server.admin_key)

    def open_sale(self) -> None:
        admin = self.admin()
        created = admin.post("/v1/sales", self.terms)
        assert created.status == 201, created.body
        for name, units in ITEMS.items():
            self.record_restock(name, units, 0, created.status)
        for verb in ("warm", "open"):
            answer = admin.post(f"/v1/sales/{self.sale}/{verb}")
            assert answer.status == 200, answer.body
        admin.close()

    def record_restock(self, item, units, sent, status) -> None:
        self.restocks.append({"item": item, "units": units, "sent": sent, "heard": time.monotonic_ns(),
                              "status": status})
        with self.restocks_file.open("a") as file:
            file.write(json.dumps(self.restocks[-1]) + "\n")

    def restock(self) -> None:
        """Now and then, while the buyers buy: scarce, but never for long."""
        admin = self.admin()
        items = {entry["id"]: entry for entry in admin.get(f"/v1/sales/{self.sale}/status").json["items"]}
        for name, units in (("phone", 400), ("watch", 250), ("cable", 15)):
            if items[name]["units_available"] > units or self.choice.random() < 0.2:
                continue
            sent, status = time.monotonic_ns(), None
            version = admin.get(f"/v1/sales/{self.sale}").headers["etag"]
            try:
                answer = admin.post(f"/v1/sales/{self.sale}/restock", {"item": name, "units": units},
                                    headers={"If-Match": version})
                status = answer.status
            finally:
                self.record_restock(name, units, sent, status)
        admin.close()

    # The killer.

    def kill_once(self) -> None:
        self.server.spawn()
        if self.choice.random() < 0.05:
            # In the middle of the rebuild: nobody has been told yet that it is there.
            time.sleep(self.choice.uniform(0, 0.04))
            self.outcome.while_starting += 1
        else:
            self.server.wait_ready()
            self.restock()
            self.crowds.tell("go", self.server.public_port)
            moment = self.choice.random()
            if moment < 0.85:
                self.crowds.tell("rush")
                self.crowds.hear_first("rush")
                # Most fall into the rush, where a commit is always under way; some come just
                # after it, when everybody has been answered and little has been ordered.
                self.spin(self.choice.uniform(0, 0.006) if moment < 0.6 else self.choice.uniform(0.03, 0.2))
            else:
                self.spin(self.choice.choice([0.02, 0.2, 0.6]) * self.choice.random())
        self.server.kill()
        self.crowds.tell("halt")
        self.crowds.hear("quiet")

    @staticmethod
    def spin(seconds: float) -> None:
        """Finer than the system's timers: the moments that matter are microseconds long."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            pass

    def read_news(self) -> None:
        for number, history in enumerate(self.histories):
            with history.open("rb") as file:
                file.seek(self.read_until[number])
                for text in file:
                    line = json.loads(text)
                    if line["kind"] == "purchase" and line["status"] == 202:
                        self.answered.add(line["id"])
                self.read_until[number] = file.tell()

    def look_at_the_dead(self) -> None:
        """On a copy: the next server must find the files exactly as the kill left them."""
        copy = self.folder / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        copy.mkdir()
        for path in self.server.data.glob("*.db*"):
            shutil.copy(path, copy / path.name)
        records = read_records(copy)
        check_records(records, self.outcome.at_kills)
        self.read_news()
        unanswered = [record for record in records.ledger
                      if record["position"] > self.position_seen and record["purchase"] not in self.answered]
        unordered = [record for record in records.ledger
                     if record["position"] > records.position and record["purchase"] in self.answered]
        self.outcome.unanswered += len(unanswered)
        self.outcome.unordered += len(unordered)
        self.outcome.met_unanswered += bool(unanswered)
        self.outcome.met_unordered += bool(unordered)
        self.outcome.kills += 1
        if records.ledger:
            self.position_seen = records.ledger[-1]["position"]

    # The end.

    def catch_up(self) -> None:
        ledger = sqlite3.connect(f"file:{self.server.data / 'ledger.db'}?mode=ro", uri=True)
        last = ledger.execute("SELECT coalesce(max(position), 0) FROM ledger").fetchone()[0]
        ledger.close()
        admin = self.admin()
        eventually("every purchase is handled", lambda: admin.get(
            f"/v1/sales/{self.sale}/status").json["orders"]["position"] == last)
        admin.close()

    def sell_the_rest(self) -> None:
        """P2 to the unit: exactly what the figures call available can be bought."""
        admin = self.admin()
        stock = admin.get(f"/v1/sales/{self.sale}/status").json["items"]
        admin.close()
        with self.last_history.open("a") as history:
            for entry in stock:
                sold, number = 0, 0
                while True:
                    number += 1
                    name = f"last-{entry['id']}-{number}"
                    buyer = Client(self.server.public_port, "public", jwt.mint(self.server.hmac_secret, name))
                    sent = time.monotonic_ns()
                    answer = buyer.post(f"/v1/sales/{self.sale}/purchases", {"item": entry["id"], "quantity": 1},
                                        headers={"Idempotency-Key": name})
                    buyer.close()
                    history.write(json.dumps({
                        "kind": "purchase", "buyer": name, "item": entry["id"], "units": 1, "key": name,
                        "sent": sent, "heard": time.monotonic_ns(), "status": answer.status,
                        "code": answer.json.get("code"), "id": answer.json.get("id"),
                        "sequence": answer.json.get("sequence")}) + "\n")
                    if answer.status != 202:
                        assert answer.code == "sold_out", answer.body
                        break
                    sold += 1
                self.outcome.last_sold[entry["id"]] = (entry["units_available"], sold)

    def run(self) -> Outcome:
        outcome = self.outcome
        self.say(f"crash: seed {outcome.seed}, {self.kills} kills, {CROWDS * PLACES} buyers at a time")
        self.folder.mkdir(parents=True, exist_ok=True)
        self.start_crowds()
        try:
            self.server.start()
            self.open_sale()
            assert self.server.stop() == 0, self.server.said()
            while outcome.kills < self.kills or (
                    not outcome.met_enough and outcome.kills < KILLS_TIMES_MAX * self.kills):
                self.kill_once()
                self.look_at_the_dead()
                if outcome.kills % 10 == 0:
                    self.say(f"crash: {outcome.kills} kills; {outcome.met_unanswered} met {outcome.unanswered} "
                             f"accepted but unanswered, {outcome.met_unordered} met {outcome.unordered} answered "
                             f"but unordered; {self.position_seen} purchases")

            self.crowds.tell("end")
            self.crowds.hear("ended")
            self.server.settings["DOORBUSTER_ORDERS__RATE_PER_SECOND_MAX"] = "5000"
            self.server.start()
            self.catch_up()
            self.sell_the_rest()
            self.catch_up()
            outcome.exit_status = self.server.stop()
        finally:
            if self.server.running():
                self.server.kill()
            self.crowds.kill()

        outcome.at_end = check_all(self.server.data, Histories.read([*self.histories, self.last_history]),
                                   self.restocks)
        self.say(f"crash: {outcome.while_starting} of the kills came while the server was starting")
        self.say("crash: checked in the copies after each kill")
        outcome.at_kills.print()
        self.say("crash: checked at the end")
        outcome.at_end.print()
        return outcome


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--keep", type=Path, help="leave data and histories in this folder")
    options = parser.parse_args()
    seed = options.seed if options.seed is not None else random.SystemRandom().randrange(1 << 32)
    with tempfile.TemporaryDirectory(prefix="doorbuster-crash-") as scratch:
        outcome = CrashRun(options.keep or Path(scratch), options.kills, seed).run()
    if not outcome.met_enough:
        print(f"crash: too few kills met a danger; {outcome.met_min} of each are needed")
    rest = all(left == sold for left, sold in outcome.last_sold.values())
    broken = outcome.at_kills.faults or outcome.at_end.faults
    return 0 if outcome.met_enough and rest and not broken and outcome.exit_status == 0 else 1


if __name__ == "__main__":
    sys.exit(main())

"""The judge of a run with faults: compares what the clients heard with what the stores have.

It knows no store: whoever calls it reads the records. It shares no code with the server and asks it nothing.
"""
import json
import sys
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path

ACTIVE = {"pending_payment", "paying", "paid", "voiding"}  # these states of an order hold units
MAY_BE_HEARD = {200, 202, 409, 429, 503, None}


class Report:
    """What was checked, and what was found wrong."""

    def __init__(self):
        self.checked = Counter()
        self.faults = defaultdict(list)

    def expect(self, promise: str, what: str, holds: bool, detail) -> None:
        self.checked[promise, what] += 1
        if not holds:
            self.faults[promise].append(f"{what}: {detail() if callable(detail) else detail}")

    def print(self, out=sys.stdout) -> None:
        for (promise, what), count in sorted(self.checked.items()):
            print(f"  {promise}  {count:7}  {what}", file=out)
        for promise, faults in sorted(self.faults.items()):
            for fault in faults[:20]:
                print(f"  BROKEN {promise}  {fault}", file=out)
            if len(faults) > 20:
                print(f"  BROKEN {promise}  … and {len(faults) - 20} more", file=out)


@dataclass
class Records:
    """What the stores have, in the words of the embedded tables."""
    ledger: list
    items: list
    purchases: list
    orders: list
    holdings: list
    dead_letters: list
    position: int  # up to which the ledger is handled

    def __post_init__(self):
        """What an order knows of its purchase's end stands with the order."""
        orders_by_id = {order["id"]: order for order in self.orders}
        for record in self.purchases:
            order = orders_by_id.get(record["order_id"])
            if order is not None and order["hold"] == "finished":
                record["state"], record["reason"] = "cancelled", order["reason"]


def check_stock(records: Records, report: Report) -> None:
    """P1 and P4: what must hold at every instant, also in the middle of the work."""
    active_units = Counter()
    buyer_units = Counter()
    for order in records.orders:
        report.expect("P1", "an order has its units exactly while its state says so",
                      (order["hold"] != "finished") == (order["state"] in ACTIVE), lambda: order)
        if order["state"] in ACTIVE:
            active_units[order["sale"], order["item"]] += order["units"]
            buyer_units[order["sale"], order["item"], order["buyer"]] += order["units"]

    limits = {}
    for item in records.items:
        place = (item["sale"], item["id"])
        limits[place] = item["units_per_buyer_max"]
        counts = [item[name] for name in ("units_available", "units_held", "units_sold")]
        report.expect("P1", "available + held + sold == total, each >= 0",
                      sum(counts) == item["units_total"] and min(counts) >= 0,
                      lambda: f"{place}: {counts} of {item['units_total']}")
        taken = item["units_held"] + item["units_sold"]
        report.expect("P1", "held + sold == units of active orders", taken == active_units[place],
                      lambda: f"{place}: {taken} in the stock row, {active_units[place]} in the orders")

    for (sale, item, buyer), units in buyer_units.items():
        report.expect("P4", "a buyer's active units are within the limit", units <= limits.get((sale, item), 0),
                      lambda: f"{buyer} holds {units} of {item}")
    held = {(row["sale"], row["item"], row["buyer"]): row["units"] for row in records.holdings}
    report.expect("P4", "the holdings are the active orders' units", held == dict(buyer_units),
                  lambda: f"they differ for {sorted(set(held.items()) ^ set(buyer_units.items()))[:5]}")


def check_orders(records: Records, report: Report) -> None:
    """P3: every order is somebody's purchase, and every purchase is ordered or explicitly cancelled; at every instant."""
    by_id = {record["purchase"]: record for record in records.ledger}
    order_of = {order["purchase"]: order for order in records.orders}
    report.expect("P3", "no purchase has two orders", len(order_of) == len(records.orders),
                  lambda: f"{len(records.orders)} orders of {len(order_of)} purchases")
    for order in records.orders:
        record = by_id.get(order["purchase"])
        report.expect("P3", "every order is its ledger record's",
                      record is not None and all(record[name] == order[name]
                                                 for name in ("sale", "item", "buyer", "units")),
                      lambda: f"order {order['id']} of {order['purchase']}: {record}")
    for purchase in records.purchases:
        order = order_of.get(purchase["id"])
        if purchase["state"] == "ordered":
            sound = order is not None and order["state"] in ACTIVE and purchase["order_id"] == order["id"]
        else:
            sound = bool(purchase["reason"]) and (order is None or order["state"] not in ACTIVE)
        report.expect("P3", "every purchase is ordered, or cancelled with a reason", sound,
                      lambda: f"{purchase['id']} is {purchase['state']} ({purchase['reason']}), its order {order}")


class Histories:
    """What the clients asked and heard."""

    def __init__(self, lines: list):
        self.purchases = [line for line in lines if line["kind"] == "purchase"]
        self.looks = [line for line in lines if line["kind"] == "look"]
        self.cancels = [line for line in lines if line["kind"] == "cancel"]
        self.lines = lines
        self.won = {}  # purchase id -> key
        self.first_sent = {}  # key -> when it was first asked
        self.wishes = {}  # key -> (buyer, item, units)
        for line in self.purchases:
            self.first_sent[line["key"]] = min(line["sent"], self.first_sent.get(line["key"], line["sent"]))
            self.wishes[line["key"]] = (line["buyer"], line["item"], line["units"])
            if line["status"] == 202:
                self.won.setdefault(line["id"], line["key"])

    @classmethod
    def read(cls, files) -> "Histories":
        return cls([json.loads(text) for file in files for text in Path(file).read_text().splitlines()])


def check_answers(records: Records, histories: Histories, report: Report) -> None:
    """P3 and P5: what was said is what is recorded."""
    ledger = {record["purchase"]: record for record in records.ledger}
    placed = {purchase["id"]: purchase for purchase in records.purchases}
    order_of = {order["purchase"]: order for order in records.orders}
    asked_to_cancel = {line["id"] for line in histories.cancels}

    for line in histories.lines:
        report.expect("P2", "nobody heard an error that explains nothing", line["status"] in MAY_BE_HEARD,
                      lambda: line)
    answers = defaultdict(set)
    first_won = {}
    for line in histories.purchases:
        if line["status"] != 202:
            continue
        answers[line["key"]].add((line["id"], line["sequence"]))
        first_won[line["key"]] = min(line["heard"], first_won.get(line["key"], line["heard"]))
        record = ledger.get(line["id"])
        report.expect("P3", "every 202 is in the ledger as it was said",
                      record is not None and (record["buyer"], record["item"], record["units"], record["sequence"]) ==
                      (line["buyer"], line["item"], line["units"], line["sequence"]), lambda: f"{line} is {record}")
        purchase, order = placed.get(line["id"]), order_of.get(line["id"])
        kept = purchase is not None and order is not None and (
            purchase["state"] == "ordered" or line["id"] in asked_to_cancel)
        report.expect("P3", "every 202 has its order, or the cancellation its buyer asked for", kept,
                      lambda: f"{line['id']} is {purchase}")
    for key, heard in answers.items():
        report.expect("P5", "a key always hears the same purchase and sequence", len(heard) == 1,
                      lambda: f"{key}: {heard}")
    keys_of = defaultdict(set)
    for key, heard in answers.items():
        for purchase, _ in heard:
            keys_of[purchase].add(key)
    for purchase, keys in keys_of.items():
        report.expect("P5", "a purchase belongs to one key", len(keys) == 1, lambda: f"{purchase}: {keys}")
    for line in histories.purchases:
        if line["status"] is not None and line["sent"] > first_won.get(line["key"], line["sent"]):
            report.expect("P5", "a winner who repeats never hears no", line["status"] in (202, 429, 503),
                          lambda: line)
        if line.get("names"):
            named = ledger.get(line["names"])
            report.expect("P5", "limit_reached names a purchase of this buyer",
                          named is not None and (named["buyer"], named["item"]) == (line["buyer"], line["item"]),
                          lambda: f"{line} names {named}")

    # A purchase whose answer was lost cannot be matched by its id; it can be counted.
    unheard = Counter(wish for key, wish in histories.wishes.items() if key not in answers)
    unclaimed = Counter((record["buyer"], record["item"], record["units"]) for record in records.ledger
                        if record["purchase"] not in histories.won)
    for wish, count in unclaimed.items():
        report.expect("P3", "no ledger record that nobody asked for", count <= unheard[wish],
                      lambda: f"{count} of {wish}, asked {unheard[wish]} times without an answer")
    for line in histories.looks:
        if line["status"] not in (None, 503):
            report.expect("P3", "a purchase that was promised can be looked up", line["status"] == 200, lambda: line)
    for line in histories.cancels:
        if line["status"] == 200:
            order = order_of.get(line["id"])
            report.expect("P3", "a cancellation that was confirmed stays",
                          order is not None and order["state"] not in ACTIVE, lambda: f"{line} is {order}")
    report.expect("P3", "no dead letter", not records.dead_letters, lambda: records.dead_letters[:3])


def check_totals(records: Records, restocks: list, report: Report) -> None:
    """P1: the totals are the first ones plus the restocks; one without an answer may have landed."""
    for item in records.items:
        mine = [line for line in restocks if line["item"] == item["id"]]
        possible = {sum(line["units"] for line in mine if line["status"] in (200, 201))}
        for line in mine:
            if line["status"] is None or line["status"] == 503:
                possible |= {total + line["units"] for total in possible}
        report.expect("P1", "the total is the first one plus the restocks", item["units_total"] in possible,
                      lambda: f"{item['id']}: {item['units_total']}, possible were {sorted(possible)[:10]}")


def check_refusals(records: Records, histories: Histories, restocks: list, report: Report, lost: list = ()) -> None:
    """P2: no sold_out while units were provably there all the time between question and answer.

    At most taken: every record whose key was first asked before the answer was heard (one whose
    key is unknown counts always), less what was confirmed as cancelled before the question. At
    least there: what was confirmed as stocked before the question. `lost` are questions that may have taken
    units without leaving a record: they count as taken, too.
    """
    for item in {line["item"] for line in histories.purchases}:
        taken = []
        for record in records.ledger:
            if record["item"] == item:
                key = histories.won.get(record["purchase"])
                taken.append((histories.first_sent[key] if key else 0, record["units"]))
        taken += [(line["sent"], line["units"]) for line in lost if line["item"] == item]
        # Confirmed twice means given back once.
        returned = {}
        for line in histories.cancels:
            if line["item"] == item and line["status"] == 200:
                heard, units = returned.get(line["id"], (line["heard"], line["units"]))
                returned[line["id"]] = (min(heard, line["heard"]), units)
        stocked = [(line["heard"], line["units"]) for line in restocks
                   if line["item"] == item and line["status"] in (200, 201)]
        taken_until, returned_until, stocked_until = Sums(taken), Sums(returned.values()), Sums(stocked)
        for line in histories.purchases:
            if line["item"] != item or line["code"] != "sold_out":
                continue
            there = (stocked_until.before(line["sent"]) + returned_until.before(line["sent"]) -
                     taken_until.through(line["heard"]))
            report.expect("P2", "no sold_out while units were certainly there", there < line["units"],
                          lambda: f"{there} were there: {line}")


class Sums:
    """How many units up to a moment."""

    def __init__(self, events):
        events = sorted(events)
        self.at = [moment for moment, _ in events]
        self.total = [0]
        for _, units in events:
            self.total.append(self.total[-1] + units)

    def before(self, moment) -> int:
        return self.total[bisect_left(self.at, moment)]

    def through(self, moment) -> int:
        return self.total[bisect_right(self.at, moment)]


def check_turns(histories: Histories, report: Report, turn_of=lambda line: (line["sequence"],)) -> None:
    """P6: who was answered before another asked has the lower number."""
    for item in {line["item"] for line in histories.purchases}:
        answered = sorted((line["heard"], turn_of(line)) for line in histories.purchases
                          if line["item"] == item and line["status"] == 202)
        moments = [moment for moment, _ in answered]
        highest = [()]
        for _, turn in answered:
            highest.append(max(highest[-1], turn))
        for line in histories.purchases:
            if line["item"] == item and line["status"] == 202:
                before = highest[bisect_left(moments, histories.first_sent[line["key"]])]
                report.expect("P6", "who came later has the higher sequence", turn_of(line) > before,
                              lambda: f"{before} was answered before this was asked: {line}")

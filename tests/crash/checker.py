#!/usr/bin/python3
"""The judge of a crash run: compares the clients' histories with the two databases.

It reads ledger.db, orders.db and the histories, and nothing else: no code of the server,
no HTTP. Run it on a stopped server's data folder:
  checker.py --data FOLDER --histories FILE… --restocks FILE
"""
import argparse
import json
import sqlite3
import sys
from collections import Counter, defaultdict
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from lib.checker import (Histories, Records, Report, check_answers, check_orders, check_refusals, check_stock,
                         check_totals, check_turns)


def rows(path: Path, query: str) -> list:
    connection = sqlite3.connect(f"file:{path}?mode=rw", uri=True)  # rw: a dead server's WAL is recovered
    try:
        connection.row_factory = sqlite3.Row
        return [dict(row) for row in connection.execute(query)]
    finally:
        connection.close()


def read_records(folder: Path) -> Records:
    """The two databases, as they are."""
    ledger, orders = Path(folder) / "ledger.db", Path(folder) / "orders.db"

    def with_text(records: list, name: str) -> list:
        return [{**record, name: record[name].hex()} for record in records]
    return Records(
        ledger=with_text(rows(ledger, "SELECT * FROM ledger ORDER BY position"), "purchase"),
        items=rows(orders, "SELECT * FROM items"),
        purchases=with_text(rows(orders, "SELECT * FROM purchases"), "id"),
        orders=with_text(rows(orders, "SELECT * FROM orders"), "purchase"),
        holdings=rows(orders, "SELECT * FROM buyer_holdings"),
        dead_letters=rows(orders, "SELECT * FROM dead_letters"),
        position=rows(orders, "SELECT position FROM worker")[0]["position"])


def check_ledger(records: Records, report: Report) -> None:
    """P5, P6 and a part of P3: what must hold at every instant for one ledger with one writer and one reader."""
    ledger_ids = Counter(record["purchase"] for record in records.ledger)
    report.expect("P5", "no purchase has two ledger records", not ledger_ids or max(ledger_ids.values()) == 1,
                  lambda: ledger_ids.most_common(3))
    sequences = defaultdict(list)
    for record in records.ledger:
        sequences[record["sale"], record["item"], record["epoch"], record["bucket"]].append(record["sequence"])
    for place, numbers in sequences.items():
        report.expect("P6", "sequences are 1..n, in the ledger's order", numbers == list(range(1, len(numbers) + 1)),
                      lambda: f"{place}: {[pair for pair in zip(numbers, range(1, len(numbers) + 1)) if pair[0] != pair[1]][:5]}")
    placed = {purchase["id"] for purchase in records.purchases}
    for record in records.ledger:
        handled = record["position"] <= records.position
        report.expect("P3", "handled exactly up to the worker's position", (record["purchase"] in placed) == handled,
                      lambda: f"position {record['position']} of {records.position}: {record['purchase']}")


def check_records(records: Records, report: Report) -> None:
    check_stock(records, report)
    check_ledger(records, report)
    check_orders(records, report)


def check_settled(records: Records, histories: Histories, report: Report) -> None:
    """P3 at the end: nothing is left over, and nothing happened that nobody wanted."""
    asked_to_cancel = {line["id"] for line in histories.cancels}
    for purchase in records.purchases:
        if purchase["state"] == "cancelled":
            report.expect("P3", "nothing was cancelled that nobody asked to", purchase["id"] in asked_to_cancel,
                          lambda: f"{purchase['id']}: {purchase['reason']}")
    last = max((record["position"] for record in records.ledger), default=0)
    report.expect("P3", "the worker has come to the end of the ledger", records.position == last,
                  lambda: f"{records.position} of {last}")


def check_all(folder: Path, histories: Histories, restocks: list) -> Report:
    """`restocks` begins with the first stock of each item, as a restock that was confirmed."""
    report, records = Report(), read_records(folder)
    check_records(records, report)
    check_answers(records, histories, report)
    check_settled(records, histories, report)
    check_totals(records, restocks, report)
    check_refusals(records, histories, restocks, report)
    check_turns(histories, report)
    return report


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--histories", type=Path, nargs="+", required=True)
    parser.add_argument("--restocks", type=Path, required=True)
    options = parser.parse_args()
    restocks = [json.loads(text) for text in options.restocks.read_text().splitlines()]
    report = check_all(options.data, Histories.read(options.histories), restocks)
    report.print()
    return 1 if report.faults else 0


if __name__ == "__main__":
    sys.exit(main())

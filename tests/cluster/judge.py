"""The judge of a cluster's sale: the promises as the embedded runs check them, and what several epochs add to them."""
from collections import Counter, defaultdict

from lib.checker import (Histories, Report, check_answers, check_orders, check_refusals, check_stock, check_totals,
                         check_turns)
from lib.cluster_records import ClusterRecords


def check_takes(records: ClusterRecords, report: Report, gaps_until: dict) -> None:
    """P6: per item, bucket and epoch every number is one purchase's, and none is missing.

    A Redis that was lost may have numbered takes that never left it, and that nobody heard a yes for:
    `gaps_until` has, per item, the first epoch after it.
    """
    numbers = defaultdict(list)
    for record in [*records.ledger, *records.late]:
        numbers[record["item"], record["epoch"], record["bucket"]].append(record["sequence"])
    for (item, epoch, bucket), found in numbers.items():
        twice = [number for number, count in Counter(found).items() if count > 1]
        report.expect("P6", "a sequence number is one purchase's", not twice,
                      lambda: f"{item}, epoch {epoch}: {twice[:5]}")
        if epoch >= gaps_until.get(item, 0):
            missing = sorted(set(range(1, max(found) + 1)) - set(found))
            report.expect("P6", "sequences have no gap", not missing, lambda: f"{item}, epoch {epoch}: {missing[:5]}")


def check_cancelled(records: ClusterRecords, histories: Histories, report: Report) -> None:
    """P3: what was cancelled without being asked to had no yes, and the shop was told of it."""
    asked_to_cancel = {line["id"] for line in histories.cancels}
    for purchase in records.purchases:
        if purchase["state"] != "cancelled" or purchase["id"] in asked_to_cancel:
            continue
        report.expect("P3", "nothing with a yes was cancelled that nobody asked to",
                      purchase["id"] not in histories.won, lambda: purchase)
        report.expect("P3", "the shop was told of every cancellation", purchase["id"] in records.told, lambda: purchase)


def check_all(records: ClusterRecords, histories: Histories, restocks: list, gaps_until: dict) -> Report:
    """`restocks` is the first stock of each item, as a restock that was confirmed."""
    report = Report()
    check_stock(records, report)
    check_orders(records, report)
    check_takes(records, report, gaps_until)
    check_answers(records, histories, report)
    check_cancelled(records, histories, report)
    check_totals(records, restocks, report)
    # Units that are given back are for sale when a relay has brought them to Redis: only the first stock was
    # certainly there. A question without a yes may have taken units that came back with the next epoch.
    never_returned = Histories([line for line in histories.lines if line["kind"] != "cancel"])
    won = {line["key"] for line in histories.purchases if line["status"] == 202}
    lost = {line["key"]: line for line in histories.purchases if line["status"] in (None, 503) and line["key"] not in won}
    check_refusals(records, never_returned, restocks, report, list(lost.values()))
    taken = {record["purchase"]: (record["epoch"], record["sequence"]) for record in records.ledger}
    check_turns(histories, report, lambda line: taken.get(line["id"], (0, line["sequence"])))
    return report

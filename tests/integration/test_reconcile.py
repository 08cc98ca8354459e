"""The audit against a real server: spoilt records are found with their ids, repaired, and found no more."""
import json
import sqlite3

import pytest

from lib.cli import Cli
from lib.sandbox import Sandbox, free_port
from lib.server import Server
from lib.shop import Shop, buy, eventually, ordered

PAGE = {"Accept": "text/html"}


class Sold:
    """A sale with three unpaid orders, of alice, bob and carol."""

    def __init__(self, shop):
        self.shop = shop.start()
        self.sale = shop.open_sale()
        self.buyers = {name: shop.buyer(name) for name in ("alice", "bob", "carol")}
        self.purchases = {name: buy(buyer, self.sale).json["id"] for name, buyer in self.buyers.items()}
        self.orders = {name: ordered(buyer, self.purchases[name])["order"]["id"] for name, buyer in self.buyers.items()}

    def spoil(self, statement: str, *values, file: str = "orders.db") -> None:
        """Changes the records of the stopped server behind its back, and starts it again."""
        assert self.shop.server.stop() == 0
        database = sqlite3.connect(self.shop.server.data / file)
        database.execute("PRAGMA ignore_check_constraints = ON")
        for one in statement.split(";"):
            database.execute(one, values if "?" in one else ())
        database.commit()
        database.close()
        self.shop.restart()

    def reconcile(self, repair: bool = False, acknowledge: tuple = ()) -> dict:
        answer = self.shop.admin.post(f"/v1/sales/{self.sale}/reconcile",
                                      {"repair": repair, "acknowledge": list(acknowledge)})
        assert answer.status == 200, answer.body
        return answer.json

    def orders_in(self, state: str) -> int:
        """What the metrics say."""
        return self.shop.figure("doorbuster_orders", state=state)

    def read(self, statement: str, *values) -> list:
        database = sqlite3.connect(f"file:{self.shop.server.data / 'orders.db'}?mode=ro", uri=True)
        try:
            return database.execute(statement, values).fetchall()
        finally:
            database.close()

    def stock(self) -> tuple:
        found = self.shop.stock(self.sale)
        return found["units_available"], found["units_held"], found["units_sold"]


@pytest.fixture
def sold(own_shop):
    return Sold(own_shop)


def kinds(report: dict) -> list:
    return [one["kind"] for one in report["differences"] if one["outcome"] != "known"]


def repair(sold: Sold, *expected: str) -> dict:
    """Finds, repairs, finds no more, and repairs nothing twice. The report that found it."""
    found = sold.reconcile()
    assert not found["agrees"] and found["after_repair"] is None
    assert kinds(found["report"]) == list(expected)
    repaired = sold.reconcile(repair=True)
    assert kinds(repaired["report"]) == list(expected), "looking changes nothing"
    assert repaired["agrees"], repaired["after_repair"]
    assert repaired["report"]["repaired_total"] == len(expected)
    rows = sold.read("SELECT count(*) FROM repairs")
    again = sold.reconcile(repair=True)
    assert again["agrees"] and again["after_repair"] is None
    assert sold.read("SELECT count(*) FROM repairs") == rows
    return found["report"]


def test_a_live_sale_agrees_and_is_history(sold):
    assert sold.reconcile()["agrees"]
    for number in range(5):
        assert buy(sold.shop.buyer(), sold.sale).status == 202
        report = sold.reconcile()["report"]
        assert report["agrees"], report["differences"]
    runs = sold.shop.admin.get(f"/v1/sales/{sold.sale}/reconciliations").json["reconciliations"]
    assert len(runs) == 6 and all(run["agrees"] for run in runs)
    assert [run["run"] for run in runs] == sorted((run["run"] for run in runs), reverse=True)
    older = sold.shop.admin.get(f"/v1/sales/{sold.sale}/reconciliations?before={runs[0]['run']}").json
    assert older["reconciliations"] == runs[1:]
    kept = sold.shop.admin.get(f"/v1/sales/{sold.sale}/reconciliations/{runs[-1]['run']}")
    assert kept.json["items"][0]["orders_held"] == 3


def test_the_stock_row_is_repaired_by_a_delta_and_the_book_follows(sold):
    sold.spoil("UPDATE items SET units_available = units_available - 4, units_held = units_held + 4")
    assert sold.stock() == (3, 7, 0), "the book was rebuilt from the row"
    found = repair(sold, "units")["differences"][0]
    assert found["item"] == "phone" and "3 available, 7 held" in found["detail"]
    eventually("the book follows", lambda: sold.stock() == (7, 3, 0))
    for _ in range(7):
        assert buy(sold.shop.buyer(), sold.sale).status == 202, "every unit that came back is for sale"
    assert buy(sold.shop.buyer(), sold.sale).code == "sold_out"


def test_a_lost_purchase_is_placed_and_its_unit_is_not_sold_twice(sold):
    sold.spoil("DELETE FROM orders WHERE buyer = 'bob'; DELETE FROM purchases WHERE buyer = 'bob';"
               "UPDATE items SET units_available = units_available + 1, units_held = units_held - 1")
    found = repair(sold, "ledger_without_purchase")["differences"][0]
    assert (found["buyer"], found["purchase"], found["position"]) == ("bob", sold.purchases["bob"], 2)
    order = ordered(sold.shop.buyer("bob"), sold.purchases["bob"])["order"]["id"]
    eventually("the book follows", lambda: sold.stock() == (7, 3, 0))
    assert sold.orders_in("pending_payment") == 3, "whoever counts the orders counts it, too"
    for name, one in {**sold.orders, "bob": order}.items():
        assert sold.shop.buyer(name).post(f"/v1/orders/{one}/cancel").status == 200
    assert (sold.orders_in("pending_payment"), sold.orders_in("cancelled")) == (0, 3)


def test_an_unpaid_order_that_nobody_accepted_is_cancelled_and_its_unit_sold_again(sold):
    sold.spoil("DELETE FROM ledger WHERE buyer = 'carol'", file="ledger.db")
    repaired = sold.reconcile(repair=True)
    found = repaired["report"]["differences"][0]
    assert (found["kind"], found["order"], found["sequence"]) == ("purchase_without_ledger", sold.orders["carol"], 3)
    assert found["outcome"] == "repaired" and not repaired["agrees"], "where did it come from?"
    assert (sold.orders_in("pending_payment"), sold.orders_in("cancelled")) == (2, 1)
    assert sold.reconcile(acknowledge=[found["key"]])["agrees"]
    assert sold.shop.buyer("carol").get(f"/v1/orders/{sold.orders['carol']}").json["state"] == "cancelled"
    eventually("the unit is back", lambda: sold.stock() == (8, 2, 0))
    known = sold.reconcile()["report"]
    assert [one["outcome"] for one in known["differences"]] == ["known"] and known["known_total"] == 1


def test_what_no_delta_mends_is_left_until_somebody_acknowledges_it_by_its_key(sold, tmp_path):
    sold.spoil("UPDATE ledger SET sequence = 9 WHERE buyer = 'carol'", file="ledger.db")
    for buyer in sold.orders:
        assert sold.shop.buyer(buyer).post(f"/v1/orders/{sold.orders[buyer]}/cancel").status == 200
    for _ in range(2):
        left = sold.reconcile(repair=True)
        assert not left["agrees"] and left["report"]["repaired_total"] == 0
        assert [one["outcome"] for one in left["after_repair"]["differences"]] == ["proposed"]
    found = left["report"]["differences"][0]
    assert (found["kind"], found["sequence"]) == ("sequence_gap", 9)
    sold.shop.act(sold.sale, "close")
    eventually("it is counted after the close", lambda: sold.read(
        "SELECT count(*) FROM reconcile_runs WHERE cause = 'close' AND agrees = 0") != [(0,)])
    assert sold.shop.admin.get(f"/v1/sales/{sold.sale}").json["state"] == "closed", "nobody has looked at it"

    said = Cli(tmp_path, DOORBUSTER_ADMIN__KEY=sold.shop.server.admin_key)(
        "reconcile", sold.sale, "--acknowledge", found["key"], "--admin", f"127.0.0.1:{sold.shop.server.admin_port}")
    assert said.returncode == 0 and "(acknowledged)" in said.stdout, said.stderr
    assert sold.read("SELECT key FROM repairs WHERE acknowledges = 1") == [(found["key"],)]
    known = sold.reconcile()
    assert known["agrees"] and [one["outcome"] for one in known["report"]["differences"]] == ["known"]


def test_units_sold_twice_stay_a_difference_whatever_is_repaired_or_said(sold):
    sold.spoil("UPDATE items SET units_total = 2, units_available = 0, units_held = 2")
    left = sold.reconcile(repair=True)
    assert not left["agrees"] and kinds(left["after_repair"]) == ["units", "oversold"]
    for one in left["report"]["differences"]:
        refused = sold.shop.admin.post(f"/v1/sales/{sold.sale}/reconcile", {"acknowledge": [one["key"]]})
        assert refused.status == 422 and refused.pointers == {"/acknowledge"}
    sold.spoil("UPDATE items SET units_total = 10, units_available = 9, units_held = 1")
    repair(sold, "units")
    eventually("the book follows", lambda: sold.stock() == (7, 3, 0))
    accepted = [buy(sold.shop.buyer(), sold.sale).status for _ in range(9)]
    assert accepted.count(202) == 7, "and no unit is sold twice"


def test_a_purchase_whose_order_is_lost_is_cancelled_explicitly(sold):
    sold.spoil("DELETE FROM orders WHERE buyer = 'bob'")
    found = {one["kind"]: one for one in repair(sold, "units", "purchase_without_order")["differences"]}
    assert found["purchase_without_order"]["order"] == sold.orders["bob"]
    told = sold.shop.buyer("bob").get(f"/v1/purchases/{sold.purchases['bob']}").json
    assert told["status"] == "cancelled" and told["reason"]
    eventually("the unit is back", lambda: sold.stock() == (8, 2, 0))


def test_a_paid_order_without_a_payment_ends_and_money_without_an_order_is_refunded(sold):
    sold.spoil("UPDATE orders SET state = 'paid', hold = 'sold' WHERE buyer = 'bob';"
               "UPDATE items SET units_held = units_held - 1, units_sold = units_sold + 1;"
               "INSERT INTO payments(id, order_id, state, version, amount_minor, currency, captured_minor, "
               "captured_currency, url, created_at_ms, updated_at_ms, looks) SELECT 77, id, 'captured', 1, "
               "amount_minor, currency, amount_minor, currency, '', 0, 0, 0 FROM orders WHERE buyer = 'carol'")
    found = {one["kind"]: one for one in
             repair(sold, "paid_without_capture", "capture_without_order")["differences"]}
    assert found["paid_without_capture"]["order"] == sold.orders["bob"]
    assert found["capture_without_order"]["payment"] == "77"
    assert sold.read("SELECT state FROM orders WHERE buyer = 'bob'") == [("refunded",)]
    assert sold.read("SELECT state FROM payments WHERE id = 77") == [("refunding",)]
    eventually("the unit is back", lambda: sold.stock() == (8, 2, 0))


def test_a_paid_order_whose_payment_is_lost_is_asked_about_at_the_provider_and_stands(contract, tmp_path):
    port = free_port()
    with Sandbox(tmp_path, f"http://127.0.0.1:{port}/v1/payments/webhook") as provider:
        provider.start()
        with Server(tmp_path / "shop", DOORBUSTER_SERVER__LISTEN=f"127.0.0.1:{port}",
                    DOORBUSTER_PAYMENTS__LOOK_MS_MIN="200", **provider.settings()) as server:
            sold = Sold(Shop(server, contract))
            path = f"/v1/orders/{sold.orders['bob']}"
            payment = sold.buyers["bob"].post(f"{path}/payments").json["id"]
            provider.act(payment, "capture")
            eventually("it is paid", lambda: sold.buyers["bob"].get(path).json["state"] == "paid")
            sold.spoil("DELETE FROM payments")
            found = sold.reconcile(repair=True)["report"]["differences"][0]
            assert (found["kind"], found["payment"], found["outcome"]) == ("paid_without_capture", payment, "repaired")
            eventually("the provider has said that it has the money", lambda: sold.reconcile()["agrees"])
            assert sold.read("SELECT state FROM payments") == [("captured",)]
            assert sold.shop.buyer("bob").get(path).json["state"] == "paid"
            assert provider.state(payment) == "captured" and sold.stock() == (7, 2, 1)
            sold.shop.close()


def test_beyond_the_limit_the_newest_unpaid_order_goes(sold):
    sold.spoil("UPDATE orders SET buyer = 'bob' WHERE buyer = 'carol';"
               "UPDATE purchases SET buyer = 'bob' WHERE buyer = 'carol'")
    assert repair(sold, "holding_over_limit")["differences"][0]["buyer"] == "bob"
    assert sold.read("SELECT state FROM orders WHERE id = ?", int(sold.orders["carol"])) == [("cancelled",)]


def test_an_ended_order_gives_its_unit_back(sold):
    sold.spoil("UPDATE orders SET state = 'expired' WHERE buyer = 'bob'")
    assert repair(sold, "unit_not_released")["differences"][0]["order"] == sold.orders["bob"]
    eventually("the unit is back", lambda: sold.stock() == (8, 2, 0))


def test_an_order_whose_state_and_units_disagree_is_found(sold):
    sold.spoil("UPDATE orders SET state = 'refunded' WHERE buyer = 'bob'")
    assert repair(sold, "unit_not_released")["differences"][0]["order"] == sold.orders["bob"]
    eventually("the unit is back", lambda: sold.stock() == (8, 2, 0))

    sold.spoil("UPDATE orders SET hold = 'sold' WHERE buyer = 'carol';"
               "UPDATE items SET units_held = units_held - 1, units_sold = units_sold + 1;"
               "UPDATE orders SET amount_minor = 1 WHERE buyer = 'alice'")
    left = sold.reconcile(repair=True)
    assert not left["agrees"] and left["report"]["repaired_total"] == 0
    assert [(one["kind"], one["order"]) for one in left["report"]["differences"]] == [
        ("amount_disagrees", sold.orders["alice"]), ("hold_disagrees", sold.orders["carol"])]
    for buyer in ("alice", "carol"):
        assert sold.shop.buyer(buyer).post(f"/v1/orders/{sold.orders[buyer]}/cancel").status == 200
    after = sold.reconcile()["report"]
    assert kinds(after) == ["amount_disagrees"], "the end of the order puts its units right, not its price"
    assert sold.reconcile(acknowledge=[after["differences"][0]["key"]])["agrees"]
    eventually("every unit is back", lambda: sold.stock() == (10, 0, 0))


def test_a_unit_given_back_twice_is_taken_back_once(sold):
    assert sold.buyers["bob"].post(f"/v1/orders/{sold.orders['bob']}/cancel").status == 200
    sold.spoil("INSERT INTO stock_moves(kind, sale, item, purchase, units, at_ms) SELECT kind, sale, item, purchase, "
               "units, at_ms FROM stock_moves WHERE kind = 'released';"
               "UPDATE items SET units_available = units_available + 1, units_held = units_held - 1")
    repaired = sold.reconcile(repair=True)
    assert kinds(repaired["report"]) == ["units", "released_twice"]
    assert kinds(repaired["after_repair"]) == ["released_twice"], "mended, but why?"
    found = repaired["after_repair"]["differences"][0]
    assert found["order"] == sold.orders["bob"]
    eventually("the book follows", lambda: sold.stock() == (8, 2, 0))
    assert sold.reconcile(acknowledge=[found["key"]])["agrees"]


def test_the_page_is_self_contained_and_escaped(sold):
    sold.spoil("UPDATE orders SET buyer = '<script>alert(1)</script>', state = 'expired' WHERE buyer = 'carol'")
    run = sold.reconcile()["report"]["run"]
    path = f"/v1/sales/{sold.sale}/reconciliations/{run}"
    page = sold.shop.admin.get(path, headers=PAGE)
    assert page.status == 200 and page.headers["content-type"].startswith("text/html")
    assert "default-src 'none'" in page.headers["content-security-policy"]
    text = page.body.decode()
    for forbidden in ("<script", "src=", "href=", "url(", "@import", "http://", "https://"):
        assert forbidden not in text, forbidden
    assert "&lt;script&gt;" in text and "prefers-color-scheme" in text
    assert sold.shop.admin.get(path).json["run"] == run


def test_a_closed_sale_is_reconciled_by_itself_once_every_order_is_settled(sold):
    for name, buyer in sold.buyers.items():
        assert buyer.post(f"/v1/orders/{sold.orders[name]}/cancel").status == 200
    sold.shop.act(sold.sale, "close")
    eventually("it is reconciled",
               lambda: sold.shop.admin.get(f"/v1/sales/{sold.sale}").json["state"] == "reconciled")
    runs = sold.shop.admin.get(f"/v1/sales/{sold.sale}/reconciliations").json["reconciliations"]
    assert runs[0]["trigger"] == "close" and runs[0]["agrees"]
    assert sold.reconcile()["agrees"], "it can still be counted"


def test_the_command_prints_writes_and_says_how_it_ended(sold, tmp_path):
    def cli(*words):
        return Cli(tmp_path, DOORBUSTER_ADMIN__KEY=sold.shop.server.admin_key)(
            *words, "--admin", f"127.0.0.1:{sold.shop.server.admin_port}")
    clean = cli("reconcile", sold.sale)
    assert clean.returncode == 0 and "all records agree" in clean.stdout, clean.stderr
    sold.spoil("UPDATE items SET units_available = units_available - 1, units_held = units_held + 1")
    different = cli("reconcile", sold.sale, "--out", "reports")
    assert different.returncode == 4 and "repair: add +1 available, -1 held" in different.stdout
    written = sorted(path.suffix for path in (tmp_path / "reports").iterdir())
    assert written == [".html", ".json"]
    assert cli("reconcile", sold.sale, "--repair").returncode == 0
    history = cli("reconcile", sold.sale, "--history", "-o", "json")
    assert [run["agrees"] for run in json.loads(history.stdout)["reconciliations"]] == [True, False, False, True]
    assert cli("reconcile", "no-such-sale").returncode == 1


def test_what_is_not_understood_is_refused(sold):
    admin = sold.shop.admin
    assert admin.post("/v1/sales/nothing/reconcile").code == "not_found"
    assert admin.post("/v1/sales/nothing/replay").code == "not_found"
    assert admin.post(f"/v1/sales/{sold.sale}/reconcile", {"repair": 1}).pointers == {"/repair"}
    assert admin.post(f"/v1/sales/{sold.sale}/reconcile", {"mend": True}).pointers == {"/mend"}
    assert admin.post(f"/v1/sales/{sold.sale}/reconcile", {"acknowledge": "all"}).pointers == {"/acknowledge"}
    assert admin.post(f"/v1/sales/{sold.sale}/reconcile", {"acknowledge": [1]}).pointers == {"/acknowledge/0"}
    assert admin.post(f"/v1/sales/{sold.sale}/reconcile", {"acknowledge": ["*"]}).pointers == {"/acknowledge"}
    assert admin.get(f"/v1/sales/{sold.sale}/reconciliations/999").code == "not_found"
    assert admin.get(f"/v1/sales/{sold.sale}/reconciliations/x").code == "not_found"
    assert admin.get(f"/v1/sales/{sold.sale}/reconciliations?before=x").code == "invalid"
    assert admin.get(f"/v1/sales/{sold.sale}/reconcile").status == 405
    assert sold.shop.anyone.post(f"/v1/sales/{sold.sale}/reconcile").code == "not_found"

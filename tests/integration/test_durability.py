"""What survives: a stop, a kill, a full disk, a folder that cannot be used."""
import hashlib
import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import threading
from contextlib import contextmanager
from http.client import HTTPException
from pathlib import Path

import pytest

from lib import jwt
from lib.client import Client, RawConnection
from lib.server import Server
from lib.shop import Shop, buy, eventually, item_terms, ordered


def exits_with(server: Server) -> tuple:
    """Status and words of a server that must refuse to start."""
    server.spawn()
    server._heard.wait()
    assert server.public_port is None, "it started"
    return server.wait(), server.said()


def prepare_sale(shop: Shop):
    """A sale with a winner, a cancelled order and a purchase of two; answers what must outlive anything."""
    sale = shop.open_sale(items=[item_terms(units_per_buyer_max=2)])
    buyers = [shop.buyer() for _ in range(3)]
    bought = [buy(buyer, sale, key="k", quantity=units).json for buyer, units in zip(buyers, (1, 2, 1))]
    orders = [ordered(buyer, purchase["id"])["order"] for buyer, purchase in zip(buyers, bought)]
    assert buyers[2].post(f"/v1/orders/{orders[2]['id']}/cancel").status == 200
    shop.units_are_back(sale, units_available=7)
    return sale, [buyer.name for buyer in buyers], bought


def seen(shop: Shop, sale: str, names: list, bought: list) -> dict:
    buyers = [shop.buyer(name) for name in names]
    return {
        "purchases": [buyer.get(f"/v1/purchases/{purchase['id']}").json for buyer, purchase in zip(buyers, bought)],
        "orders": [buyer.get("/v1/orders").json for buyer in buyers],
        "stock": shop.stock(sale),
        "sale": shop.admin.get(f"/v1/sales/{sale}").json,
    }


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_a_restart_keeps_everything(own_shop, end):
    shop = own_shop.start()
    sale, names, bought = prepare_sale(shop)
    before = seen(shop, sale, names, bought)
    assert getattr(shop.server, end)() == (0 if end == "stop" else -signal.SIGKILL)

    shop.restart()
    assert seen(shop, sale, names, bought) == before
    for name, purchase in zip(names, bought):
        again = buy(shop.buyer(name), sale, key="k", quantity=purchase["quantity"])
        assert (again.status, again.json["id"], again.json["sequence"]) == (202, purchase["id"], purchase["sequence"])
    assert buy(shop.buyer(names[1]), sale, quantity=1).code == "limit_reached"
    assert shop.stock(sale) == before["stock"]
    assert buy(shop.buyer(), sale).json["sequence"] == 4, "sequences go on where they stopped"


def test_a_stop_answers_the_request_in_hand_and_takes_no_more(own_shop):
    shop = own_shop.start()
    sale = shop.open_sale()
    token = jwt.mint(shop.server.hmac_secret, "alice")
    body = b'{"item":"phone"}'
    head = (f"POST /v1/sales/{sale}/purchases HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n"
            f"Idempotency-Key: k\r\nContent-Length: {len(body)}\r\nExpect: 100-continue\r\n\r\n").encode()
    port = shop.server.public_port
    with RawConnection(port) as half:
        half.send(head)
        # The server asks for the body, so the request is certainly in its hands.
        assert half._socket.recv(100).startswith(b"HTTP/1.1 100")
        shop.server.signal(signal.SIGTERM)

        def refused():
            try:
                RawConnection(port).close()
                return False
            except ConnectionResetError:
                return False  # it met the listener in the act of closing
            except ConnectionRefusedError:
                return True
        eventually("new connections are refused", refused)
        half.send(body)
        answer = half.receive()
        assert answer.status == 202 and answer.headers["connection"] == "close"
        assert half.at_end()
    assert shop.server.wait() == 0

    shop.restart()
    assert ordered(shop.buyer("alice"), answer.json["id"])["sequence"] == 1


def test_a_stop_under_load_answers_every_purchase_it_took(own_shop):
    shop = own_shop.start()
    sale = shop.open_sale(items=[item_terms(units_total=100_000)])
    won, lock, begun = [], threading.Lock(), threading.Barrier(9)

    def keep_buying(number):
        mine, count = [], 0
        try:
            while True:
                name = f"rush-{number}-{count}"
                client = Client(shop.server.public_port, "public", jwt.mint(shop.server.hmac_secret, name))
                answer = buy(client, sale, key="k")
                client.close()
                assert answer.status == 202, answer.body
                mine.append((name, answer.json["id"]))
                count += 1
                if count == 5:
                    begun.wait()
        except (OSError, HTTPException):
            pass  # the door is closed
        with lock:
            won.extend(mine)

    threads = [threading.Thread(target=keep_buying, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    begun.wait()
    assert shop.server.stop() == 0, shop.server.said()
    for thread in threads:
        thread.join()
    ledger = sqlite3.connect(shop.server.data / "ledger.db")
    recorded = {row[0].hex() for row in ledger.execute("SELECT purchase FROM ledger")}
    orders = sqlite3.connect(shop.server.data / "orders.db")
    placed = {row[0].hex() for row in orders.execute("SELECT purchase FROM orders")}
    ledger.close()
    orders.close()
    assert len(won) >= 40
    assert recorded == {purchase for _, purchase in won}, "taken in, and nobody told"
    assert placed == recorded, "a stop finishes every order already promised"


def test_a_second_process_on_the_same_folder_is_turned_away(own_shop):
    shop = own_shop.start()
    second = Server(shop.server.folder)
    status, said = exits_with(second)
    assert status == 1 and str(shop.server.process.pid) in said
    assert shop.anyone.get("/v1/time").status == 200, "the first one goes on"


@pytest.mark.parametrize("name", ["ledger.db", "orders.db"])
def test_a_database_of_a_newer_version_is_left_alone(own_shop, name):
    shop = own_shop.start()
    shop.open_sale()
    assert shop.server.stop() == 0
    database = sqlite3.connect(shop.server.data / name)
    database.execute("PRAGMA user_version = 999")
    database.close()

    def bytes_of():
        return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in shop.server.data.glob("*.db")}
    before = bytes_of()
    status, said = exits_with(shop.server)
    assert (status, "999" in said and name in said) == (1, True), said
    assert bytes_of() == before


def test_a_file_that_is_no_database_is_left_alone(own_shop):
    shop = own_shop
    shop.server.data.mkdir(parents=True)
    (shop.server.data / "orders.db").write_bytes(b"my shopping list " * 300)
    status, said = exits_with(shop.server)
    assert status == 1 and "orders.db" in said
    assert (shop.server.data / "orders.db").read_bytes() == b"my shopping list " * 300


@contextmanager
def mounted(folder: Path, options: str):
    folder.mkdir(parents=True)
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder], capture_output=True)
    if os.geteuid() != 0 or done.returncode != 0:
        yield False
        return
    try:
        yield True
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


def test_a_read_only_folder_is_refused(own_shop, tmp_path):
    server = own_shop.server
    place = tmp_path / "disk"
    with mounted(place, "size=16m") as is_mount:
        server.data = place / "data"
        shop = own_shop.start()
        shop.open_sale()
        assert server.stop() == 0
        if is_mount:
            subprocess.run(["mount", "-o", "remount,ro", place], check=True)
        elif os.geteuid() != 0:
            for path in [*server.data.iterdir(), server.data]:
                path.chmod(path.stat().st_mode & ~0o222)
        else:
            pytest.skip("root without the right to mount cannot make a folder read-only")
        status, said = exits_with(server)
        assert status == 1 and "read-only" in said.lower().replace("read only", "read-only"), said
        if not is_mount:
            for path in [server.data, *server.data.iterdir()]:
                path.chmod(0o755)


def limit_file_size():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # a write beyond the limit then fails instead of killing
    resource.setrlimit(resource.RLIMIT_FSIZE, (2_000_000, 2_000_000))


def fill(folder: Path) -> None:
    with open(folder / "filler", "wb", buffering=0) as filler:
        try:
            while True:
                filler.write(bytes(4096))
        except OSError:
            pass  # not a byte is left


def buy_until_the_end(server: Server, sale: str, buyers: int, begun) -> list:
    """Many buyers at once, until nobody is there any more: (buyer, answer) of each purchase."""
    heard, lock, first = [], threading.Lock(), threading.Barrier(buyers + 1)

    def keep_buying(number):
        mine = []
        try:
            for count in range(100_000):
                name = f"buyer-{number}-{count}"
                client = Client(server.public_port, "public", jwt.mint(server.hmac_secret, name))
                mine.append((name, buy(client, sale, key="k")))
                client.close()
                if count == 0:
                    first.wait()
        except (OSError, HTTPException):
            pass
        with lock:
            heard.extend(mine)

    threads = [threading.Thread(target=keep_buying, args=(number,)) for number in range(buyers)]
    for thread in threads:
        thread.start()
    first.wait()
    begun()
    for thread in threads:
        thread.join()
    return heard


def meet_a_full_disk(shop: Shop, place: Path, roomy: Path) -> bool:
    """One server whose ledger runs out of room; True if somebody was waiting for a commit just then."""
    server = shop.server
    with mounted(place, "size=4m") as is_mount:
        server.data = place / "data"
        shop.start()
        sale = shop.open_sale(items=[item_terms(units_total=1_000_000)])
        assert server.stop() == 0
        # The orders live elsewhere, so that it is the ledger that meets the end of the disk.
        roomy.mkdir()
        shutil.move(server.data / "orders.db", roomy / "orders.db")
        (server.data / "orders.db").symlink_to(roomy / "orders.db")
        server.preexec = None if is_mount else limit_file_size
        shop.restart()
        heard = buy_until_the_end(server, sale, 8, begun=lambda: is_mount and fill(place))
        status, said = server.wait(), server.said().lower()
        assert status == 1, said
        assert any(word in said for word in ("full", "space", "too large", "i/o error")), said
        assert {answer.status for _, answer in heard} <= {202, 503}
        for path in server.data.glob("ledger.db*"):
            shutil.copy(path, roomy)

    server.data, server.preexec = roomy, None
    shop.restart()
    won = [(name, answer.json["id"]) for name, answer in heard if answer.status == 202]
    for name, purchase in won:
        ordered(shop.buyer(name), purchase)
    unknown = [name for name, answer in heard if answer.code == "unknown"]
    for name in unknown:
        assert buy(shop.buyer(name), sale, key="k").status == 202, "the same key settles what was unknown"
    assert shop.stock(sale)["units_available"] <= 1_000_000 - len(won) - len(unknown)
    assert server.stop() == 0
    return bool(unknown)


def test_a_full_disk_in_mid_sale_loses_no_promise(contract, tmp_path):
    # Which write meets the full disk first is chance: an append, with buyers waiting for it, or
    # the ledger's upkeep, when nobody waits.
    for attempt in range(20):
        with Server(tmp_path / f"shop-{attempt}") as server:
            shop = Shop(server, contract)
            if meet_a_full_disk(shop, tmp_path / f"disk-{attempt}", tmp_path / f"roomy-{attempt}"):
                return
            shop.close()
    pytest.fail("no buyer was waiting in any of the attempts")

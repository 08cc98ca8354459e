"""A crowd that takes every file descriptor it can get."""
import resource

from lib.client import RawConnection
from lib.shop import buy, eventually

OPEN_FILES_MAX, RESERVED = 200, 128
CROWD = OPEN_FILES_MAX + 50


def limit_open_files():
    resource.setrlimit(resource.RLIMIT_NOFILE, (OPEN_FILES_MAX, OPEN_FILES_MAX))


def test_accepting_pauses_and_the_operator_still_gets_in(own_shop):
    own_shop.server.settings["DOORBUSTER_SERVER__THREADS"] = "2"
    own_shop.server.preexec = limit_open_files
    shop = own_shop.start()
    sale = shop.open_sale()
    held = OPEN_FILES_MAX - RESERVED
    eventually("it says that it holds fewer than it was told",
               lambda: f"connections_per_thread={held // 2}" in shop.server.said())

    crowd = [RawConnection(shop.server.public_port) for _ in range(CROWD)]
    eventually("it holds as many as it has room for",
               lambda: shop.figure("doorbuster_connections_open", listener="public") == held)
    assert shop.figure("doorbuster_accept_pauses_total", listener="public") > 0
    eventually("it says that accepting pauses", lambda: "accepting pauses" in shop.server.said())
    assert shop.admin_with(None).get("/livez").status == 200, "on a new connection"
    assert shop.admin_with(shop.server.admin_key).get(f"/v1/sales/{sale}").status == 200

    for connection in crowd:
        connection.close()
    assert buy(shop.buyer(), sale).status == 202
    told = sum("accepting pauses" in line for line in shop.server.stderr)
    assert told < CROWD, "not a line for each"

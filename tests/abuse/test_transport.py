"""Clients that break HTTP, dawdle, or take more than their share of the connection."""
import resource
import socket

import pytest

from lib.client import RawConnection
from lib.shop import buy, eventually
from scene import Scene, memory_bytes
from wire import Pipe, get, purchase, purchase_head, rejected

DEADLINE_MS = 3000  # long for whoever means to ask, on a machine that is busy with other things
OPEN_FILES_MAX, OPEN_FILES_RESERVED = 200, 128
CONNECTIONS_MAX = 20


@pytest.fixture(scope="module")
def settings():
    return {f"DOORBUSTER_SERVER__{name}_DEADLINE_MS": str(DEADLINE_MS) for name in ("HEADER", "BODY", "WRITE")}


def test_19_two_ways_to_read_the_length_of_a_body(shop, scene):
    sale = scene.sale()
    smuggled = purchase(shop, sale, "mallory-behind").decode()
    chunked = f"0\r\n\r\n{smuggled}"
    for fields in ("Content-Length: 4\r\nTransfer-Encoding: chunked\r\n",
                   f"Transfer-Encoding: chunked\r\nContent-Length: {len(chunked)}\r\n",
                   "Content-Length: 0\r\nContent-Length: 0\r\n",
                   f"Content-Length: 0\r\nContent-Length: {len(smuggled)}\r\n",
                   "Content-Length: 0, 0\r\n", "Content-Length: +0\r\n", "Content-Length: 0x0\r\n",
                   "Content-Length:\r\n", "Content-Length: 18446744073709551616\r\n",
                   "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
                   "Transfer-Encoding: gzip, chunked\r\n", "Transfer-Encoding: chunked, identity\r\n",
                   "Transfer-Encoding: xchunked\r\n", "Transfer-Encoding:\x0bchunked\r\n"):
        head = purchase_head(shop, sale, "mallory") + fields + "\r\n"
        assert rejected(shop, (head + chunked).encode(), 400).code == "malformed", fields
    old = purchase_head(shop, sale, "mallory", "Transfer-Encoding: chunked").replace("HTTP/1.1", "HTTP/1.0")
    rejected(shop, (old + "\r\n" + chunked).encode(), 400)
    scene.honest(sale)


def test_20_heads_that_two_parsers_read_differently(shop, scene):
    sale = scene.sale()
    head, body = purchase_head(shop, sale, "mallory"), '{"item":"phone"}'
    ending = f"Content-Length: {len(body)}\r\n\r\n{body}"
    for spoilt in (f"X-Folded: a\r\n b\r\n{ending}", f"X-Folded:\r\n\tb\r\n{ending}",
                   f"X-Spaced : a\r\n{ending}", f" X-Indented: a\r\n{ending}",
                   f"X-Return: a\rb\r\n{ending}", f"X-Feed: a\nX-Next: b\r\n{ending}",
                   f"X-Nul: a\0b\r\n{ending}", f"X-\0: b\r\n{ending}", f"X-Del: a\x7f\r\n{ending}",
                   f": nameless\r\n{ending}", f"nothing\r\n{ending}", f"Host: other\r\n{ending}",
                   f"Authorization: Bearer x\r\n{ending}"):
        assert rejected(shop, (head + spoilt).encode("latin-1"), 400).code == "malformed", spoilt
    rejected(shop, (head + ending).replace("\r\n", "\n").encode(), 400)
    with RawConnection(shop.server.public_port) as connection:  # the same head, unspoilt, is a purchase
        connection.send((head + ending).encode())
        scene.bought(sale, connection.receive())


def test_21_a_chunk_size_that_overflows(shop, scene):
    sale = scene.sale()
    head = purchase_head(shop, sale, "mallory", "Transfer-Encoding: chunked") + "\r\n"
    body = '{"item":"phone"}'
    for size in ("FFFFFFFFFFFFFFFF", "10000000000000010", "100000000", "7FFFFFFFFFFFFFFF", "-1", "0x10", "", " 10"):
        rejected(shop, f"{head}{size}\r\n{body}\r\n0\r\n\r\n".encode(), 400)
    with RawConnection(shop.server.public_port) as connection:
        connection.send(f"{head}{len(body):x}\r\n{body}\r\n0\r\n\r\n".encode())
        scene.bought(sale, connection.receive())


def test_22_headers_without_end(shop, scene):
    sale = scene.sale()
    head, body = purchase_head(shop, sale, "mallory"), '{"item":"phone"}'
    ending = f"Content-Length: {len(body)}\r\n\r\n{body}"
    for spoilt in ("X-Long: " + "x" * 17_000, "X: y\r\n" * 100, "X" * 17_000):
        assert rejected(shop, f"{head}{spoilt}\r\n{ending}".encode(), 431).code == "headers_too_large"
    rejected(shop, f"GET /{'x' * 17_000}".encode(), 431)
    fields = head.count("\r\n")  # with the length, and without the request line
    with RawConnection(shop.server.public_port) as connection:
        connection.send((head + "X: y\r\n" * (100 - fields) + ending).encode())
        scene.bought(sale, connection.receive())


def test_23_slow_heads_slow_bodies_and_readers_that_never_read(shop, scene):
    sale = scene.sale()
    closed = shop.figure("doorbuster_deadline_closed_total", listener="public")
    head = purchase_head(shop, sale, "mallory", "Content-Length: 16")
    with RawConnection(shop.server.public_port) as slow_head, RawConnection(shop.server.public_port) as slow_body, \
            socket.socket() as never_reads, RawConnection(shop.server.public_port) as silent:
        slow_head.send(head.encode())
        slow_body.send((head + '\r\n{"item":').encode())
        never_reads.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        never_reads.connect(("127.0.0.1", shop.server.public_port))
        never_reads.setblocking(False)
        asked = get("/openapi.json") * 200
        try:
            while True:
                asked = asked[never_reads.send(asked):] or get("/openapi.json") * 200
        except (BlockingIOError, ConnectionResetError):
            pass  # the server has stopped taking more
        scene.honest(sale)  # while all of them hang
        for connection in (slow_head, slow_body):
            assert connection.receive().code == "timeout"
            assert connection.at_end()
        assert silent.at_end(), "long before the deadline of those who have asked"
        eventually("the one that never reads is closed as well",
                   lambda: shop.figure("doorbuster_deadline_closed_total", listener="public") >= closed + 4)
    scene.honest(sale)


@pytest.mark.parametrize("sent", [b"", b"P", b"POST /v1/time HTTP/1.1\r\nHost: shop\r\nContent-Length: 9\r\n\r\n{", b"nonsense\r\n\r\n",
                                  get("/openapi.json") * 200],  # far more than the kernel keeps for who does not read
                         ids=["silent", "slow head", "slow body", "never closes", "never reads"])
def test_23_one_address_that_holds_every_connection(serving, sent):
    with serving(DOORBUSTER_SERVER__THREADS="1", DOORBUSTER_SERVER__CONNECTIONS_MAX=str(CONNECTIONS_MAX)) as shop:
        scene = Scene(shop)
        sale = scene.sale()
        all_of_them = CONNECTIONS_MAX * shop.server.gates
        held = [RawConnection(shop.server.public_port) for _ in range(2 * all_of_them)]  # the rest wait in line
        for connection in held:
            connection.send(sent)
        eventually("they hold every connection",
                   lambda: shop.figure("doorbuster_connections_open", listener="public") == all_of_them)
        scene.honest(sale)
        assert shop.figure("doorbuster_idle_closed_total", listener="public") > 0
        for connection in held:
            connection.close()
        scene.audit()


def test_24_a_pipelining_flood(shop, scene):
    sale, count, connections = scene.sale(), 2_000, 20
    scene.honest(sale)
    before, floods = memory_bytes(shop), []
    for _ in range(connections):
        flood = socket.create_connection(("127.0.0.1", shop.server.public_port))
        flood.setblocking(False)
        try:
            while True:
                flood.send(get("/openapi.json") * 100)
        except (BlockingIOError, ConnectionResetError):
            floods.append(flood)  # it takes no more, and no answer has been read
    scene.honest(sale)
    assert memory_bytes(shop) - before < connections * (1 << 20), "the answers to a flood do not pile up"
    for flood in floods:
        flood.close()
    with Pipe(shop.server.public_port) as pipe:  # written ahead, but read: every answer comes, in order
        pipe.send(b"".join(get(f"/v1/sales/none-{number}" if number % 2 else "/v1/time") for number in range(count)))
        assert [status for status, _ in pipe.receive(count)] == [200, 404] * (count // 2)


def test_26_every_file_descriptor_taken(serving):
    def limit_open_files():
        resource.setrlimit(resource.RLIMIT_NOFILE, (OPEN_FILES_MAX, OPEN_FILES_MAX))

    with serving(preexec=limit_open_files, DOORBUSTER_SERVER__THREADS="2") as shop:
        scene = Scene(shop)
        sale = scene.sale()
        early = shop.buyer()
        assert early.get("/v1/time").status == 200
        crowd = [RawConnection(shop.server.public_port) for _ in range(OPEN_FILES_MAX + 50)]

        def accepting_pauses() -> bool:  # who asks meanwhile is not the one that has been idle for longest
            assert early.get("/v1/time").status == 200
            return shop.figure("doorbuster_accept_pauses_total", listener="public") > 0
        eventually("accepting pauses", accepting_pauses)
        assert shop.admin_with(None).get("/livez").status == 200, "the operator gets in, on a new connection"
        scene.honest(sale, early)  # who was in before is served
        for connection in crowd:
            connection.close()
        scene.honest(sale)
        scene.audit()


def test_27_a_body_over_the_limit(shop, scene):
    sale = scene.sale()
    for fields in ("Content-Length: 10000000", "Content-Length: 18446744073709551615",
                   "Expect: 100-continue\r\nContent-Length: 10000000"):
        head = purchase_head(shop, sale, "mallory", fields) + "\r\n"
        assert rejected(shop, head.encode(), 413).code == "body_too_large", "with no byte of the body sent"
    head = purchase_head(shop, sale, "mallory", "Transfer-Encoding: chunked") + "\r\n"
    rejected(shop, f"{head}989680\r\n".encode(), 413)
    rejected(shop, f"{head}3000\r\n{'x' * 0x3000}\r\n3000\r\n".encode(), 413)
    padded = f'{{"item":"phone"{" " * 10_000}}}'.encode()
    buyer = shop.buyer()
    scene.bought(sale, buyer.post(f"/v1/sales/{sale}/purchases", padded))
    assert buy(buyer, sale).code == "limit_reached"

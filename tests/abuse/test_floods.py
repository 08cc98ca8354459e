"""Ids and names that are made up, or chosen to collide: looking them up must cost next to nothing."""
import itertools
import json
import re
import time
import uuid

from lib import jwt
from lib.client import Answer
from lib.shop import item_terms, ordered
from scene import wakeups
from wire import Pipe, get, purchase


def test_36_a_flood_of_unknown_ids(shop, scene):
    sale, count = scene.sale(), 2_000
    alice = shop.buyer()
    known = scene.honest(sale, alice)
    order = ordered(alice, known)["order"]["id"]
    bearer = f"Authorization: Bearer {jwt.mint(shop.server.hmac_secret, 'mallory')}"
    before, began = wakeups(shop, "lookup"), time.monotonic()
    with Pipe(shop.server.public_port) as pipe:
        for path in ("/v1/sales/no-such-sale", "/v1/sales/no-such-sale/stock"):
            pipe.send(get(path) * count)
            assert {status for status, _ in pipe.receive(count)} == {404}, path
        unknown_item = purchase(shop, sale, "mallory").replace(b'"phone"', b'"phony"')
        unknown_sale = purchase(shop, sale, "mallory").replace(sale.encode(), b"x" * len(sale))
        for request in (unknown_item, unknown_sale):
            pipe.send(request * count)
            assert {status for status, _ in pipe.receive(count)} == {404}
        assert wakeups(shop, "lookup") - before <= 2, "what is not in the catalogue needs no database"
        # These are the database's to know: it is asked once for each id, and again after a second.
        for path in (f"/v1/purchases/{'0' * 31}1", "/v1/orders/123456789", f"/v1/orders/{order}"):
            pipe.send(get(path, bearer) * count)
            assert {status for status, _ in pipe.receive(count)} == {404}, path
    elapsed_s = time.monotonic() - began
    # Each gate thread remembers for itself; one connection meets one of them.
    assert wakeups(shop, "lookup") - before <= 10 * 3 * (elapsed_s + 1), "2,000 times the same question is one question"
    assert alice.get(f"/v1/orders/{order}").status == 200, "what is unknown to others is not unknown to its owner"
    scene.honest(sale)


def std_hash_twins(count: int) -> list:
    """Names that std::hash of the usual C++ library (MurmurHash2, 64 bit, a known seed) gives one value.

    The state after a block is (state ^ mix(block)) * m, and mix can be undone: the last of three blocks is
    whatever leads to the wanted state. About one in 4,000 is text that JSON carries as it is.
    """
    mask, m, seed, wanted = (1 << 64) - 1, 0xC6A4A7935BD1E995, 0xC70F6907, 0x0123456789ABCDEF
    inverse, text, names = pow(m, -1, 1 << 64), re.compile(rb"[!#-\[\]-~]{8}"), []

    def mix(block: bytes) -> int:
        k = int.from_bytes(block, "little") * m & mask
        return (k ^ k >> 47) * m & mask
    state = ((seed ^ 24 * m & mask) ^ mix(b"collide-")) * m & mask
    for number in itertools.count():
        middle = b"%08d" % number
        k = ((state ^ mix(middle)) * m ^ wanted) * inverse & mask
        last = ((k ^ k >> 47) * inverse & mask).to_bytes(8, "little")
        if text.fullmatch(last):
            names.append((b"collide-" + middle + last).decode())
            if len(names) == count:
                return names


def polynomial_twins(pair: tuple, count: int) -> list:
    """Names that a hash of the form 31 * h + c, or 33 * h + c, gives one value."""
    return ["".join(choice) for choice in itertools.product(pair, repeat=count)]


def buy_all(shop, scene, names: list, connections: int = 64) -> None:
    """Each of them buys one, in a sale of their own, and the purchase of each is theirs alone."""
    sale = scene.sale(items=[item_terms(units_total=len(names))])
    shares, pipes, purchases = [names[start::connections] for start in range(connections)], [], {}
    for share in shares:
        pipes.append(Pipe(shop.server.public_port))
        pipes[-1].send(b"".join(purchase(shop, sale, name) for name in share))
    for pipe, share in zip(pipes, shares):
        for name, (status, body) in zip(share, pipe.receive(len(share))):
            purchases[name] = scene.bought(sale, Answer(status, body=body))
    assert len(set(purchases.values())) == len(names)
    shop.stock_becomes(sale, units_available=0)  # each of them is somebody, whatever their names hash to
    for pipe, share in zip(pipes, shares):  # whoever asks again is told apart from all the others
        pipe.send(b"".join(purchase(shop, sale, name) for name in share))
        for name, (status, body) in zip(share, pipe.receive(len(share))):
            said = json.loads(body)
            assert (status, said["code"], said.get("purchase")) == (409, "limit_reached", purchases[name]), name
        pipe.close()


def test_47_names_that_collide(shop, scene):
    families = [std_hash_twins(256), polynomial_twins(("Aa", "BB"), 12), polynomial_twins(("Ab", "BA"), 12)]
    assert [len(set(names)) for names in families] == [256, 4096, 4096]
    for names in families:
        buy_all(shop, scene, names)
    buy_all(shop, scene, [uuid.uuid4().hex for _ in range(256)])

"""The operator's ways to keep trouble out, while the server runs: levels and lists, by HTTP and by command."""
import pytest

from lib.cli import operator_of
from lib.shop import buy, eventually, item_terms, ordered

LEVELS = ["normal", "no_browse", "purchase_only", "closed"]


@pytest.fixture
def level(shop):
    """Sets the level; afterwards it is as it was."""
    def put(name: str) -> dict:
        answer = shop.admin.put("/v1/level", {"level": name})
        assert answer.status == 200, answer.body
        return answer.json
    yield put
    put("auto")


@pytest.fixture
def operator(shop, tmp_path):
    return operator_of(shop.server, tmp_path)


def entries(shop) -> set:
    return {(entry["list"], entry["kind"], entry["value"], entry["from"])
            for entry in shop.admin.get("/v1/lists").json["entries"]}


def put_aside(answer) -> bool:
    """Left out because of the level: nobody is told that something is not there."""
    assert answer.status == 503 and int(answer.headers["retry-after"]) >= 1, answer.body
    return answer.code in ("overloaded", "unavailable")


def test_the_level_says_who_set_it(shop, level):
    first = shop.admin.get("/v1/level").json
    assert (first["level"], first["set_by"]) == ("normal", "none")
    assert (first["operator"], first["detector"]) == ("auto", "normal")
    for name in LEVELS[1:]:
        assert level(name)["level"] == name
        shown = shop.admin.get("/v1/level").json
        assert (shown["level"], shown["set_by"], shown["operator"]) == (name, "operator", name)
        assert shown["since_ms"] >= first["since_ms"]
    assert level("auto")["level"] == "normal"


def test_no_browse_leaves_out_lists_of_orders_and_nothing_that_is_ready(shop, level):
    sale, buyer = shop.open_sale(), shop.buyer()
    level("no_browse")
    for path in ("/", "/v1/time", "/v1/sales", f"/v1/sales/{sale}", f"/v1/sales/{sale}/stock"):
        assert shop.anyone.get(path).status == 200, path
    assert put_aside(buyer.get("/v1/orders"))
    assert buy(buyer, sale).status == 202


def test_purchase_only_leaves_out_all_but_buying_and_what_a_yes_was_given_for(shop, level):
    sale, buyer = shop.open_sale(), shop.buyer()
    level("purchase_only")
    for path in ("/", "/v1/sales", f"/v1/sales/{sale}", f"/v1/sales/{sale}/stock", "/openapi.json"):
        assert put_aside(shop.anyone.get(path)), path
    assert put_aside(buyer.get("/v1/orders"))
    assert shop.anyone.get("/v1/time").status == 200
    bought = buy(buyer, sale)
    assert bought.status == 202
    order = ordered(buyer, bought.json["id"])["order"]["id"]
    assert buyer.get(f"/v1/orders/{order}").status == 200
    assert buyer.post(f"/v1/orders/{order}/cancel").status == 200


def test_closed_is_a_page_and_503_and_takes_nothing(shop, level):
    sale, winner = shop.open_sale(), shop.buyer()
    purchase = buy(winner, sale).json["id"]
    ordered(winner, purchase)
    level("closed")
    page = shop.anyone.get("/", headers={"Accept": "text/html"})
    assert (page.status, page.headers["content-type"]) == (503, "text/html; charset=utf-8")
    assert "Closed for the moment" in page.body.decode() and int(page.headers["retry-after"]) >= 1
    assert page.headers["cache-control"] == "no-store"
    for answer in (shop.anyone.get("/v1/time"), shop.anyone.get("/v1/sales"), buy(shop.buyer(), sale),
                   shop.buyer().get(f"/v1/sales/{sale}/challenges"), winner.get(f"/v1/purchases/{purchase}")):
        assert put_aside(answer) and answer.code == "unavailable"
    assert shop.admin_with(None).get("/readyz").status == 200, "the operator's listener is not concerned"
    assert shop.stock(sale)["units_held"] == 1
    level("auto")
    assert shop.anyone.get("/").status == 200
    assert winner.get(f"/v1/purchases/{purchase}").json["status"] == "ordered"
    assert buy(shop.buyer(), sale).status == 202


@pytest.mark.parametrize("body, status, pointers", [
    (b"{", 400, set()), (b"[]", 422, {""}), (b"{}", 422, {"/level"}), (b'{"level":"calm"}', 422, {"/level"}),
    (b'{"level":3}', 422, {"/level"}), (b'{"level":"closed","x":1}', 422, {"/x"})])
def test_a_level_that_does_not_exist_changes_nothing(shop, body, status, pointers):
    before = shop.admin.get("/v1/level").json
    answer = shop.admin.put("/v1/level", body)
    assert (answer.status, answer.pointers) == (status, pointers)
    assert shop.admin.get("/v1/level").json == before
    assert shop.admin.post("/v1/level", {"level": "closed"}).headers["allow"] == "GET, HEAD, PUT"


def test_a_blocked_buyer_is_refused_until_the_entry_goes(shop):
    sale, mallory = shop.open_sale(items=[item_terms(units_per_buyer_max=5)]), shop.buyer("mallory/the one & only")
    path = "/v1/lists/block/buyer/mallory%2Fthe%20one%20%26%20only"
    assert buy(mallory, sale).status == 202
    put = shop.admin.put(path)
    assert (put.status, put.json) == (200, {"list": "block", "kind": "buyer", "value": mallory.name})
    assert shop.admin.put(path).status == 200, "twice is once"
    assert ("block", "buyer", mallory.name, "operator") in entries(shop)
    refused = buy(mallory, sale)
    assert (refused.status, refused.code) == (403, "blocked")
    assert buy(shop.buyer(), sale).status == 202
    assert shop.admin.delete(path.replace("block", "allow")).code == "not_found", "another list's entry"
    assert shop.admin.delete(path).status == 200
    assert shop.admin.delete(path).code == "not_found"
    assert buy(mallory, sale).status == 202


def test_of_two_ranges_the_narrower_counts(shop):
    block, allow = "/v1/lists/block/address/127.0.7.0%2F24", "/v1/lists/allow/address/127.0.7.7"
    inside, office, outside = (shop.public_with(None, source=source)
                               for source in ("127.0.7.8", "127.0.7.7", "127.0.8.8"))
    assert shop.admin.put(block).json["value"] == "127.0.7.0/24"
    assert shop.admin.put(allow).status == 200
    refused = inside.get("/v1/time")
    assert (refused.status, refused.code) == (403, "blocked")
    assert office.get("/v1/time").status == outside.get("/v1/time").status == 200
    for path in (block, allow):
        assert shop.admin.delete(path).status == 200
    assert inside.get("/v1/time").status == 200


@pytest.mark.parametrize("path, status", [
    ("block/address/here", 422), ("block/address/10.0.0.1%2F40", 422), ("block/buyer/%zz", 422),
    ("bless/buyer/alice", 404), ("block/city/berlin", 404), ("block/buyer/", 404), ("block/buyer", 404),
    ("block/buyer/" + "x" * 300, 422)])
def test_an_entry_that_makes_no_sense_is_refused(shop, path, status):
    before = entries(shop)
    for method in ("PUT", "DELETE"):
        assert shop.admin.request(method, f"/v1/lists/{path}").status == status
    assert entries(shop) == before
    assert shop.admin.get("/v1/lists/block/buyer/alice").headers["allow"] == "PUT, DELETE"


def test_a_lists_file_is_followed_and_only_there_its_entries_go(own_shop):
    server, file = own_shop.server, own_shop.server.folder / "lists.txt"
    server.folder.mkdir()
    def write(text: str) -> None:
        """At once: one that is caught half-written is another list."""
        fresh = file.with_suffix(".new")
        fresh.write_text(text)
        fresh.replace(file)
    write("# who is not welcome\nblock buyer mallory\n\nblock address 127.0.9.9\n")
    server.settings["DOORBUSTER_RISK__LISTS_FILE"] = str(file)
    shop = own_shop.start()
    sale, mallory = shop.open_sale(), shop.buyer("mallory")
    assert entries(shop) == {("block", "buyer", "mallory", "file"), ("block", "address", "127.0.9.9", "file")}
    assert buy(mallory, sale).code == "blocked"
    assert shop.public_with(None, source="127.0.9.9").get("/v1/time").code == "blocked"
    kept = shop.admin.delete("/v1/lists/block/buyer/mallory")
    assert (kept.status, kept.code) == (409, "wrong_state") and "risk.lists_file" in kept.json["detail"]
    assert buy(mallory, sale).code == "blocked"

    write("block buyer mallory\nblock bayer trudy\n")
    eventually("the fault is told", lambda: "their file has faults" in server.said())
    assert ("block", "address", "127.0.9.9", "file") in entries(shop), "a file with faults changes nothing"
    write("block buyer trudy\n")
    eventually("the file is read again", lambda: entries(shop) == {("block", "buyer", "trudy", "file")})
    assert buy(mallory, sale).status == 202
    assert buy(shop.buyer("trudy"), sale).code == "blocked"


def test_the_operators_word_outlives_a_crash(own_shop):
    shop = own_shop.start()
    assert shop.admin.put("/v1/lists/block/buyer/mallory").status == 200
    assert shop.admin.put("/v1/level", {"level": "no_browse"}).status == 200
    shop.server.kill()
    shop.restart()
    assert entries(shop) == {("block", "buyer", "mallory", "operator")}
    assert shop.admin.get("/v1/level").json["level"] == "no_browse"
    assert buy(shop.buyer("mallory"), shop.open_sale()).code == "blocked"


def test_levels_by_command(shop, level, operator):
    assert operator("level").stdout.startswith("the level is normal since ")
    for name in LEVELS[1:]:
        done = operator("level", name)
        assert done.returncode == 0 and f"the level is {name}" in done.stdout and "set by the operator" in done.stdout
        assert operator.json("level")["operator"] == name == shop.admin.get("/v1/level").json["level"]
    assert operator.json("level", "auto")["level"] == "normal"
    wrong = operator("level", "calm")
    assert wrong.returncode == 2 and "purchase_only" in wrong.stderr


def test_lists_by_command(shop, operator):
    sale, mallory = shop.open_sale(), shop.buyer("mallory & sons/1")
    done = operator("lists", "block", "buyer", mallory.name)
    assert done.returncode == 0 and "is blocked" in done.stdout, done.stderr
    assert buy(mallory, sale).code == "blocked"
    assert operator("lists", "allow", "address", "2001:db8::/32").returncode == 0
    shown = operator("lists", "show").stdout
    assert mallory.name in shown and "2001:db8::/32" in shown and "operator" in shown
    assert {(entry["list"], entry["value"]) for entry in operator.json("lists", "show")["entries"]} == {
        ("block", mallory.name), ("allow", "2001:db8::/32")}
    assert operator("lists", "remove", "block", "buyer", mallory.name).returncode == 0
    assert operator("lists", "remove", "allow", "address", "2001:db8::/32").returncode == 0
    gone = operator("lists", "remove", "block", "buyer", mallory.name)
    assert gone.returncode == 1 and "no such entry" in gone.stderr
    assert operator("lists", "block", "address", "nowhere").returncode == 1
    assert operator("lists", "block", "city", "berlin").returncode == 2
    assert buy(mallory, sale).status == 202
    assert operator.json("lists", "show")["entries"] == []

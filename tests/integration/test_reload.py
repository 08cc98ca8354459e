"""The configuration, read again while the server runs: by HTTP, by command, by SIGHUP."""
import signal

from lib import checks, jwt
from lib.cli import operator_of
from lib.client import RawConnection
from lib.shop import buy, eventually, item_terms, reloaded

SECRETS = [f"secret-{number}-" + "s" * 32 for number in range(2)]


def issuer(name: str) -> str:
    return f'[identity]\nissuer = "{name}"\n'


def knows(shop, buyer) -> bool:
    """Whether the server takes the buyer's token: by its issuer, in these tests."""
    return buyer.get("/v1/orders").status == 200


def test_what_is_live_takes_effect_and_what_is_not_is_named(configured):
    shop = configured(issuer("") + "[tokens]\nlife_s = 600\n")
    buyer = shop.buyer()
    assert reloaded(shop) == ([], []), "nothing has changed"
    shop.write(issuer("https://shop.example") + "[tokens]\nlife_s = 60\n[server]\nconnections_max = 500\n")
    assert knows(shop, buyer), "not before it is told"
    changed, needs_restart = reloaded(shop)
    assert (set(changed), needs_restart) == ({"identity.issuer", "tokens.life_s"}, ["server.connections_max"])
    assert not knows(shop, buyer)
    assert reloaded(shop) == ([], ["server.connections_max"]), "it waits for a restart until there is one"

    customer = shop.public_with(jwt.mint(shop.server.hmac_secret, "carol", iss="https://shop.example"))
    sale = shop.open_sale(human_check="pow", pow_number_max=1000)
    challenge = checks.ask(customer, sale)
    token = checks.answered(customer, sale, checks.payload(challenge, checks.solve(challenge))).json
    assert token["expires_at_ms"] <= shop.anyone.get("/v1/time").json["now_ms"] + 60_000
    shop.write(issuer("") + "[tokens]\nlife_s = 60\n")
    assert reloaded(shop) == (["identity.issuer"], [])
    assert knows(shop, buyer)


def test_faults_change_nothing_and_all_are_told(configured, tmp_path):
    shop = configured(issuer(""))
    buyer = shop.buyer()
    shop.write(issuer("https://shop.example") + "[tokens]\nlife_s = 1\n[sevrer]\nthreads = 1\n")
    answer = shop.admin.post("/v1/reload")
    assert (answer.status, answer.code, answer.json["detail"]) == (422, "invalid", "nothing was changed")
    told = " ".join(fault["detail"] for fault in answer.json["errors"])
    assert "tokens.life_s" in told and "sevrer" in told
    assert knows(shop, buyer), "also what was right in the file"
    command = operator_of(shop.server, tmp_path)("reload")
    assert command.returncode == 1 and "tokens.life_s" in command.stderr
    shop.write("[identity\n")
    assert shop.admin.post("/v1/reload").status == 422
    assert shop.admin.get("/v1/reload").headers["allow"] == "POST"


def test_sighup_reads_it_again(configured):
    shop = configured(issuer(""))
    buyer = shop.buyer()
    shop.write(issuer("https://shop.example"))
    shop.server.signal(signal.SIGHUP)
    eventually("the new issuer counts", lambda: not knows(shop, buyer))
    shop.write("[tokens]\nlife_s = 1\n")
    shop.server.signal(signal.SIGHUP)
    eventually("the fault is told", lambda: "was not reloaded" in shop.server.said())
    assert not knows(shop, buyer)
    shop.write("")
    shop.server.signal(signal.SIGHUP)
    eventually("any issuer counts again", lambda: knows(shop, buyer))
    assert shop.server.stop() == 0, shop.server.said()


def test_reload_by_command(configured, tmp_path):
    shop = configured(issuer(""))
    operator = operator_of(shop.server, tmp_path)
    assert "nothing has changed" in operator("reload").stdout
    shop.write(issuer("https://shop.example") + "[server]\nconnections_max = 500\n")
    told = operator("reload").stdout
    assert told.index("in effect now:") < told.index("identity.issuer") < told.index("needs a restart") \
        < told.index("server.connections_max")
    assert operator.json("reload") == {"changed": [], "needs_restart": ["server.connections_max"]}


def test_a_limit_is_tightened_and_loosened_in_mid_sale(configured):
    def limit(count: int) -> str:
        return f"[limits]\nbuyer_per_minute = {count}\n"
    shop = configured(limit(0), DOORBUSTER_LIMITS__BUYER_PER_MINUTE=None)
    sale = shop.open_sale(items=[item_terms(units_total=1)])
    assert buy(shop.buyer(), sale, key="k").status == 202
    loser = shop.buyer()
    assert [buy(loser, sale).code for _ in range(5)] == ["sold_out"] * 5
    shop.write(limit(3))
    assert reloaded(shop) == (["limits.buyer_per_minute"], [])
    assert [buy(loser, sale).code for _ in range(5)] == ["sold_out"] * 3 + ["rate_limited"] * 2
    # Another change must not give anybody a fresh start.
    shop.write(limit(3) + issuer(""))
    assert shop.admin.put("/v1/lists/block/buyer/trudy").status == 200
    assert reloaded(shop) == ([], [])
    assert buy(loser, sale).code == "rate_limited"
    shop.write(limit(0))
    reloaded(shop)
    assert buy(loser, sale).code == "sold_out"


def test_the_secret_of_tokens_is_changed_without_spoiling_what_is_in_hand(configured):
    def secrets(current: str, previous: str = "") -> str:
        return f'[tokens]\nsecret = "{current}"\nsecret_previous = "{previous}"\n'
    shop = configured(secrets(SECRETS[0]))
    sale = shop.open_sale(human_check="pow", pow_number_max=1000)
    early, middle, late = shop.buyer(), shop.buyer(), shop.buyer()
    tokens = [checks.token_for(buyer, sale) for buyer in (early, middle)]
    shop.write(secrets(SECRETS[1], SECRETS[0]))
    assert set(reloaded(shop)[0]) == {"tokens.secret", "tokens.secret_previous"}
    bought = buy(early, sale, token=tokens[0])
    assert bought.status == 202, "signed with the old secret, and still good"
    assert buy(late, sale, token=checks.token_for(late, sale)).status == 202
    shop.write(secrets(SECRETS[1]))
    assert reloaded(shop) == (["tokens.secret_previous"], [])
    assert buy(middle, sale, token=tokens[1]).code == "token_invalid"
    assert buy(middle, sale, token=checks.token_for(middle, sale)).status == 202
    for secret in (*SECRETS, shop.server.admin_key):
        assert secret not in shop.server.said()


def test_the_limits_of_a_connection_are_changed(configured):
    def body(bytes_max: int) -> str:
        return f"[server]\nbody_bytes_max = {bytes_max}\nheader_bytes_max = {bytes_max}\nidle_deadline_ms = 3000\n"
    shop = configured("")
    sale, padded = shop.open_sale(), f'{{"item":"phone"{" " * 2_000}}}'.encode()
    early = shop.buyer()
    assert early.post(f"/v1/sales/{sale}/purchases", padded).status == 202
    shop.write(body(1024))
    assert reloaded(shop) == (["server.header_bytes_max", "server.body_bytes_max", "server.idle_deadline_ms"], [])
    assert early.post(f"/v1/sales/{sale}/purchases", padded).code == "limit_reached", "one that was there goes on as it was"
    assert shop.buyer().post(f"/v1/sales/{sale}/purchases", padded).code == "body_too_large"
    assert shop.buyer().get("/v1/time", headers={"X-Long": "x" * 2_000}).code == "headers_too_large"
    with RawConnection(shop.server.public_port) as silent:
        assert silent.at_end(), "by the new deadline"
    shop.write(body(4096))
    reloaded(shop)
    assert shop.buyer().post(f"/v1/sales/{sale}/purchases", padded).status == 202


def test_when_checks_become_harder_is_changed(configured):
    def target(per_second: int) -> str:
        return f"[checks]\npow_target_per_second = {per_second}\n"
    shop = configured(target(1_000_000))
    sale, buyer = shop.open_sale(human_check="pow", pow_number_max=1000), shop.buyer()
    assert {checks.ask(buyer, sale)["maxnumber"] for _ in range(20)} == {1000}
    shop.write(target(1))
    assert reloaded(shop) == (["checks.pow_target_per_second"], [])
    eventually("many checks cost more each", lambda: checks.ask(buyer, sale)["maxnumber"] > 1000)
    shop.write(target(1_000_000))
    reloaded(shop)
    assert checks.ask(buyer, sale)["maxnumber"] == 1000

"""The shop hears of everything, signed, at least once: a real receiver, a server that is killed, an operator."""
import base64
import json
import secrets
import signal
import subprocess
import threading

import pytest

from lib.cli import operator_of
from lib.receiver import Receiver, is_signed
from lib.server import BINARY, NotReady, clean_environment
from lib.shop import buy, eventually, ordered


def new_secret() -> str:
    return "whsec_" + base64.b64encode(secrets.token_bytes(24)).decode()


@pytest.fixture
def told(own_shop):
    """told(receiver, …): a running shop whose server tells this receiver. `shop.tell` changes that."""
    own_shop.server.folder.mkdir()

    def tell(url="", signing=(), **more):
        lines = [f'url = "{url}"', f'secrets = "{", ".join(signing)}"', "allow_private = true",
                 *(f"{name} = {value}" for name, value in more.items())]
        (own_shop.server.folder / "doorbuster.toml").write_text("[webhooks]\n" + "\n".join(lines) + "\n")

    def start(receiver=None, signing=(), **more):
        own_shop.secrets = list(signing) or [new_secret()]
        own_shop.tell = tell
        tell(receiver.url if receiver else "", own_shop.secrets, **more)
        return own_shop.start()
    return start


def order(shop, sale: str) -> dict:
    buyer = shop.buyer()
    return ordered(buyer, buy(buyer, sale).json["id"])["order"] | {"buyer": buyer.name}


def deliveries(shop, **query) -> list:
    text = "&".join(f"{name}={value}" for name, value in query.items())
    return shop.admin.get(f"/v1/deliveries?{text}").json["deliveries"]


def first(receiver: Receiver, kind: str):
    return eventually(f"{kind} arrives", lambda: receiver.of_type(kind))[0]


def test_an_order_is_told_with_everything_that_never_changes_signed_with_every_secret(told):
    signing = [new_secret(), new_secret()]
    with Receiver() as receiver:
        shop = told(receiver, signing)
        sale = shop.open_sale()
        bought = order(shop, sale)
        created = first(receiver, "order.created")
        assert all(is_signed(created, secret) for secret in signing)
        assert not is_signed(created, new_secret())
        assert created.headers["content-type"] == "application/json"
        assert created.json["data"] == {
            "id": bought["id"], "purchase": bought["purchase"], "sale": sale, "item": "phone", "buyer": bought["buyer"],
            "units": 1, "amount": {"amount_minor": bought["amount_minor"], "currency": bought["currency"]},
            "state": "pending_payment"}
        opened = first(receiver, "sale.opened")
        assert opened.json["data"] == {"id": sale, "state": "open"}
        eventually("both are delivered", lambda: {one["state"] for one in deliveries(shop)} == {"delivered"})
        events = shop.admin.get("/v1/events?after=0").json["events"]
        assert {event["id"]: event["payload"] for event in events} == {one.id: one.json for one in receiver.received}


def test_a_receiver_that_fails_first_gets_the_same_bytes_again(told):
    failing = threading.Event()
    failing.set()
    with Receiver(lambda received: 500 if failing.is_set() else 204) as receiver:
        shop = told(receiver)
        order(shop, shop.open_sale())
        event = first(receiver, "order.created").id
        waiting = eventually("it waits for its second attempt", lambda: next(
            (one for one in deliveries(shop, state="pending") if one["event"] == event and one["attempts"] > 0), None))
        assert waiting["next_attempt_at"] is not None
        failing.clear()
        eventually("it is delivered", lambda: shop.admin.get(f"/v1/deliveries/{event}").json["delivery"]["state"]
                   == "delivered")
        attempts = receiver.with_id(event)
        assert len(attempts) > 1 and len({one.body for one in attempts}) == 1
        assert all(is_signed(one, shop.secrets[0]) for one in attempts)
        assert attempts[1].at - attempts[0].at > 3.9, "five seconds, less a fifth"
        log = shop.admin.get(f"/v1/deliveries/{event}").json
        assert [(one["number"], one["status"]) for one in log["attempts"]] == [
            *((number, 500) for number in range(1, len(attempts))), (len(attempts), 204)]
        assert log["payload"] == attempts[0].json


def test_an_event_outlives_a_killed_server_and_a_receiver_that_never_answers(told):
    hanging = threading.Event()
    hanging.set()
    with Receiver(lambda received: None if hanging.is_set() else 200) as receiver:
        shop = told(receiver, timeout_ms=60_000)
        order(shop, shop.open_sale())
        event = first(receiver, "order.created").id
        shop.server.kill()
        hanging.clear()
        shop.restart()
        eventually("it comes again", lambda: len(receiver.with_id(event)) >= 2)
        eventually("it is delivered", lambda: deliveries(shop, state="pending") == [])
        # A stop does not wait for a receiver, and what it cut off is sent again.
        hanging.set()
        order(shop, shop.open_sale())
        last = eventually("a second order is on its way", lambda: receiver.of_type("order.created")[-1:])[0].id
        shop.close()
        assert shop.server.stop() == 0, shop.server.said()
        hanging.clear()
        shop.restart()
        eventually("all is delivered", lambda: deliveries(shop, state="pending") == [])
        assert shop.admin.get(f"/v1/deliveries/{last}").json["delivery"]["state"] == "delivered"


def test_from_the_day_there_is_a_receiver_events_go_out_and_a_secret_is_changed_without_a_gap(told):
    with Receiver() as receiver:
        shop = told()
        sale = shop.open_sale()
        order(shop, sale)
        assert shop.admin.get("/v1/events?after=newest").json == {"events": [], "next": "evt_2"}
        eventually("they are passed over", lambda: shop.server.rows("SELECT position FROM notifier") == [{"position": 2}])
        assert deliveries(shop) == []
        assert shop.admin.post("/v1/deliveries/evt_1/resend").code == "wrong_state"

        old, new = shop.secrets[0], new_secret()
        shop.tell(receiver.url, [old])
        assert shop.admin.post("/v1/reload").json["changed"] == ["webhooks.url"]
        order(shop, sale)
        assert first(receiver, "order.created").id == "evt_3"
        shop.tell(receiver.url, [new, old])
        assert shop.admin.post("/v1/reload").json["changed"] == ["webhooks.secrets"]
        order(shop, sale)
        both = eventually("the next one", lambda: receiver.with_id("evt_4"))[0]
        assert is_signed(both, old) and is_signed(both, new)
        assert not is_signed(receiver.with_id("evt_3")[0], new)
        # What happened before can be asked for.
        assert shop.admin.post("/v1/deliveries/evt_1/resend").status == 200
        eventually("the first one", lambda: receiver.with_id("evt_1"))


def test_the_operator_lists_shows_and_sends_again(told, tmp_path):
    with Receiver(lambda received: 410) as receiver:
        shop = told(receiver)
        run = operator_of(shop.server, tmp_path)
        order(shop, shop.open_sale())
        eventually("both were refused for good", lambda: len(deliveries(shop, state="failed")) == 2)
        assert [one["event"] for one in run.json("webhooks", "list", "--state", "failed", "--limit", "1")["deliveries"]
                ] == ["evt_2"]
        assert "evt_1" in run("webhooks", "list", "--before", "evt_2").stdout
        assert "410" in run("webhooks", "show", "evt_2").stdout
        receiver.answer = lambda received: 200
        assert run("webhooks", "resend", "evt_2").returncode == 0
        eventually("it is delivered", lambda: deliveries(shop, state="delivered"))
        log = shop.admin.get("/v1/deliveries/evt_2").json
        assert [one["status"] for one in log["attempts"]] == [410, 200] and log["delivery"]["attempts"] == 2
        assert run("webhooks", "resend", "evt_99").returncode == 1
        for path in ("/v1/deliveries/evt_99", "/v1/deliveries/nothing", "/v1/deliveries/evt_1/again"):
            assert shop.admin.get(path).status == 404, path
        for path in ("/v1/deliveries?state=lost", "/v1/deliveries?before=x", "/v1/deliveries?limit=0", "/v1/events?after=-1"):
            assert shop.admin.get(path).code == "invalid", path
        assert shop.buyer().get("/v1/deliveries").status == 404, "it is the operator's alone"


def test_listen_shows_what_happens_and_forwards_it_signed(told, tmp_path):
    with Receiver() as receiver:
        shop = told()
        sale = shop.open_sale()
        settings = operator_of(shop.server, tmp_path).settings
        listening = subprocess.Popen(
            [BINARY, "listen", "--forward-to", receiver.url, "-o", "json"], cwd=tmp_path, text=True,
            env=clean_environment(**settings, DOORBUSTER_WEBHOOKS__SECRETS=shop.secrets[0]),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            lines = []
            reader = threading.Thread(target=lambda: lines.extend(listening.stdout), daemon=True)
            reader.start()
            assert "listening" in listening.stderr.readline()
            order(shop, sale)
            created = first(receiver, "order.created")
            assert is_signed(created, shop.secrets[0])
            # An interrupt cuts off what is on its way: the receiver has it before its answer is shown.
            eventually("it is shown", lambda: any(created.id in line for line in lines))
            listening.send_signal(signal.SIGINT)
            assert listening.wait(timeout=60) == 0, listening.stderr.read()
            reader.join(timeout=60)
        finally:
            listening.kill()
            listening.communicate()
    shown = [json.loads(line) for line in lines]
    assert {one["payload"]["type"] for one in shown} == {"order.created"}, "only what is new"
    mine = next(one for one in shown if one["id"] == created.id)
    assert mine["payload"] == created.json and mine["forwarded"]["status"] == 204
    assert deliveries(shop) == [], "listening delivers nothing in the server's name"


def test_a_url_without_a_secret_does_not_start_and_says_how_to_make_one(own_shop):
    own_shop.server.settings["DOORBUSTER_WEBHOOKS__URL"] = "https://shop.example/hooks"
    with pytest.raises(NotReady) as refused:
        own_shop.start()
    assert "doorbuster webhooks secret" in str(refused.value)

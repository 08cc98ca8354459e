"""The sandbox provider as a process: its interface, its page, its webhooks, its faults, its memory."""
import http.client
import time

import pytest

from lib.client import RawConnection
from lib.cli import Cli
from lib.receiver import Receiver
from lib.sandbox import Sandbox
from lib.shop import eventually
from lib.signing import is_signed


@pytest.fixture
def merchant():
    with Receiver() as merchant:
        yield merchant


@pytest.fixture
def provider(tmp_path, merchant):
    with Sandbox(tmp_path, merchant.url) as provider:
        yield provider.start()


def heard(merchant: Receiver, kind: str, key: str):
    """The first such event."""
    return eventually(f"{kind} of {key} arrives",
                      lambda: [one for one in merchant.of_type(kind) if one.json["data"]["key"] == key])[0]


def test_a_buyer_pays_on_the_page_and_the_merchant_hears_of_it_signed(provider, merchant):
    made = provider.create("attempt-1", return_url="https://shop.example/orders/1")
    assert made.status == 201 and made.json["state"] == "created" and made.json["captured_minor"] == 0
    assert made.json["payment_url"] == f"{provider.url}/pay/attempt-1?lang={{lang}}"
    again = provider.create("attempt-1", return_url="https://shop.example/orders/1")
    assert (again.status, again.json) == (200, made.json)
    assert provider.create("attempt-1", amount_minor=1).status == 409

    page = provider.call("GET", "/pay/attempt-1", key="none")
    assert page.status == 200 and "CN¥19.99".encode() in page.body and b"order-1" in page.body
    assert "请".encode() in provider.call("GET", "/pay/attempt-1", Accept_Language="zh-CN").body
    assert provider.call("POST", "/pay/attempt-1/decline", key="none").status == 303
    assert b"try again" in provider.call("GET", "/pay/attempt-1").body
    assert provider.call("POST", "/pay/attempt-1/capture", key="none").status == 303
    assert b"https://shop.example/orders/1" in provider.call("GET", "/pay/attempt-1").body

    captured = heard(merchant, "payment.captured", "attempt-1")
    assert is_signed(provider.secret, captured.headers, captured.body)
    assert not is_signed(provider.secret, captured.headers, captured.body + b" ")
    assert abs(int(captured.headers["webhook-timestamp"]) - time.time()) < 60
    data = captured.json["data"]
    assert data == provider.call("GET", "/v1/payments/attempt-1").json
    assert data["captured_minor"] == 1999 and data["captured_currency"] == "CNY" and data["version"] == 3
    assert len({heard(merchant, f"payment.{kind}", "attempt-1").id for kind in ("created", "declined", "captured")}) == 3

    assert provider.act("attempt-1", "void").json["state"] == "captured"
    assert provider.act("attempt-1", "refund").json["state"] == "refunded"
    heard(merchant, "payment.refunded", "attempt-1")


def test_a_voided_unknown_key_is_a_tombstone(provider):
    unknown = provider.call("GET", "/v1/payments/late")
    assert (unknown.status, unknown.json) == (404, {"state": "unknown"})
    buried = provider.act("late", "void")
    assert buried.status == 200 and buried.json["state"] == "voided"
    assert provider.create("late").json["state"] == "voided"
    assert provider.act("late", "capture").status == 409
    assert provider.call("POST", "/pay/late/capture").status == 303
    assert provider.state("late") == "voided"
    assert provider.act("late", "refund").status == 409


def test_nothing_without_the_key(provider):
    for method, path in (("GET", "/v1/payments/x"), ("PUT", "/v1/payments/x"), ("GET", "/v1/faults"),
                         ("GET", "/v1/payments")):
        assert provider.call(method, path, key="wrong").status == 401
    assert provider.call("GET", "/pay/unknown").status == 404


def test_a_webhook_that_was_refused_comes_again_under_its_id(provider, merchant):
    merchant.answer = lambda received: 500
    provider.create("again")
    eventually("it was refused", lambda: len(merchant.received) >= 1)
    merchant.answer = lambda received: 204
    eventually("it comes again", lambda: len(merchant.received) >= 2)
    first, second = merchant.received[:2]
    assert first.id == second.id and first.body == second.body
    assert is_signed(provider.secret, second.headers, second.body)


def test_the_fault_switch(provider, merchant):
    assert provider.call("GET", "/v1/faults").json["faults"] == []
    assert provider.call("PUT", "/v1/faults", {"faults": ["lots"]}).status == 422

    provider.set_faults(["forged"])
    for number in range(20):
        provider.create(f"forged-{number}")
    eventually("one is signed wrongly", lambda: any(not is_signed(provider.secret, one.headers, one.body)
                                                    for one in merchant.received))
    eventually("one is old", lambda: any(int(one.headers["webhook-timestamp"]) < time.time() - 600
                                         for one in merchant.received))
    eventually("this merchant takes everything", lambda: provider.webhook_counts()["forged_accepted"] > 0)

    provider.set_faults(["underpaid", "wrong_currency"])
    for number in range(40):
        provider.create(f"short-{number}")
        provider.act(f"short-{number}", "capture")
    captured = [payment for payment in provider.payments() if payment["key"].startswith("short-")]
    assert len(captured) == 40
    assert {payment["captured_minor"] for payment in captured} == {1998, 1999}
    assert {payment["captured_currency"] for payment in captured} == {"CNY", "USD"}

    provider.set_faults(["captured_after_void"])
    for number in range(40):
        provider.create(f"void-{number}")
        assert provider.act(f"void-{number}", "void").json["state"] == "voided"
    eventually("a voided payment is captured", lambda: any(one.json["data"]["key"].startswith("void-")
                                                           for one in merchant.of_type("payment.captured")))

    provider.set_faults(["unreachable", "lost"])
    seen = set()
    for number in range(200):
        try:
            seen.add(provider.create(f"far-{number}").status)
        except (http.client.HTTPException, OSError):
            seen.add("no answer")
    assert seen == {201, 503, "no answer"}
    provider.set_faults([])
    assert provider.create("calm").status == 201


def test_what_was_paid_is_known_after_a_restart_with_data(tmp_path):
    with Sandbox(tmp_path) as provider:
        provider.start()
        provider.create("paid")
        provider.act("paid", "capture")
        provider.act("tomb", "void")
        before = provider.payments()
        assert provider.kill() != 0
        with provider.data.open("a") as journal:
            journal.write('{"key":"half')
        provider.start()
        assert provider.payments() == before
        assert provider.create("tomb").json["state"] == "voided"
        assert provider.act("paid", "refund").json["state"] == "refunded"
        assert provider.stop() == 0
        provider.start()
        assert provider.state("paid") == "refunded"
        assert provider.stop() == 0


def test_too_much_is_refused(provider):
    assert provider.create("big", reference="r" * 20_000).status == 413
    with RawConnection(provider.port) as raw:
        raw.send(b"GET /pay/x HTTP/1.1\r\nX-Long: " + b"a" * 10_000 + b"\r\n\r\n")
        assert raw.receive().status == 431
    with RawConnection(provider.port) as raw:
        raw.send(b"nonsense\r\n\r\n")
        assert raw.receive().status == 400


def test_wrong_usage_and_a_taken_port_are_told(provider, tmp_path):
    cli = Cli(tmp_path)
    assert cli("sandbox-pay").returncode == 2
    assert "unknown fault" in cli("sandbox-pay", "--key", "k", "--faults", "x").stderr
    taken = cli("sandbox-pay", "--key", "k", "--listen", f"127.0.0.1:{provider.port}")
    assert taken.returncode == 1 and "in use" in taken.stderr

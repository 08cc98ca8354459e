"""The sandbox provider as a process: its interface, its page, its webhooks, its faults, its memory."""
import http.client
import json
import time

import pytest

from lib.client import RawConnection
from lib.cli import Cli
from lib.sandbox_pay import Merchant, SandboxPay, is_signed


@pytest.fixture
def merchant():
    with Merchant() as merchant:
        yield merchant


@pytest.fixture
def provider(tmp_path, merchant):
    with SandboxPay(tmp_path, webhook_url=merchant.url) as provider:
        yield provider.start()


def test_a_buyer_pays_on_the_page_and_the_merchant_hears_of_it_signed(provider, merchant):
    status, made = provider.create("attempt-1", return_url="https://shop.example/orders/1")
    assert status == 201 and made["state"] == "created" and made["captured_minor"] == 0
    assert made["payment_url"] == f"{provider.url}/pay/attempt-1"
    assert provider.create("attempt-1", return_url="https://shop.example/orders/1") == (200, made)
    assert provider.create("attempt-1", amount_minor=1)[0] == 409

    status, page = provider.call("GET", "/pay/attempt-1", key="none")
    assert status == 200 and "CNY 19.99" in page and "order-1" in page
    assert "请" in provider.call("GET", "/pay/attempt-1", headers={"Accept-Language": "zh-CN"})[1]
    assert provider.call("POST", "/pay/attempt-1/decline", key="none")[0] == 303
    assert "try again" in provider.call("GET", "/pay/attempt-1")[1]
    assert provider.call("POST", "/pay/attempt-1/capture", key="none")[0] == 303
    assert "https://shop.example/orders/1" in provider.call("GET", "/pay/attempt-1")[1]

    headers, body = merchant.wait_for_event("payment.captured", "attempt-1")
    assert is_signed(provider.secret, headers, body)
    assert not is_signed(provider.secret, headers, body + b" ")
    assert abs(int(headers["webhook-timestamp"]) - time.time()) < 60
    data = json.loads(body)["data"]
    assert data == provider.call("GET", "/v1/payments/attempt-1")[1]
    assert data["captured_minor"] == 1999 and data["captured_currency"] == "CNY" and data["version"] == 3
    ids = {merchant.wait_for_event(f"payment.{kind}", "attempt-1")[0]["webhook-id"]
           for kind in ("created", "declined", "captured")}
    assert len(ids) == 3

    assert provider.act("attempt-1", "void")[1]["state"] == "captured"
    assert provider.act("attempt-1", "refund")[1]["state"] == "refunded"
    merchant.wait_for_event("payment.refunded", "attempt-1")


def test_a_voided_unknown_key_is_a_tombstone(provider):
    assert provider.call("GET", "/v1/payments/late") == (404, {"state": "unknown"})
    status, buried = provider.act("late", "void")
    assert status == 200 and buried["state"] == "voided"
    assert provider.create("late")[1]["state"] == "voided"
    assert provider.act("late", "capture")[0] == 409
    assert provider.call("POST", "/pay/late/capture")[0] == 303
    assert provider.state("late") == "voided"
    assert provider.act("late", "refund")[0] == 409


def test_nothing_without_the_key(provider):
    for method, path in (("GET", "/v1/payments/x"), ("PUT", "/v1/payments/x"), ("GET", "/v1/faults"),
                         ("GET", "/v1/payments")):
        assert provider.call(method, path, key="wrong")[0] == 401
    assert provider.call("GET", "/pay/unknown")[0] == 404


def test_a_webhook_that_was_refused_comes_again_under_its_id(provider, merchant):
    merchant.answer = 500
    provider.create("again")
    merchant.wait_until(lambda received: len(received) >= 1)
    merchant.answer = 204
    merchant.wait_until(lambda received: len(received) >= 2)
    first, second = merchant.received[:2]
    assert first[0]["webhook-id"] == second[0]["webhook-id"] and first[1] == second[1]
    assert is_signed(provider.secret, second[0], second[1])


def test_the_fault_switch(provider, merchant):
    assert provider.call("GET", "/v1/faults")[1]["faults"] == []
    assert provider.call("PUT", "/v1/faults", {"faults": ["lots"]})[0] == 422

    provider.set_faults("forged")
    for number in range(20):
        provider.create(f"forged-{number}")
    merchant.wait_until(lambda received: any(not is_signed(provider.secret, *one) for one in received))
    merchant.wait_until(lambda received: any(int(headers["webhook-timestamp"]) < time.time() - 600
                                             for headers, _ in received))
    deadline = time.monotonic() + 30
    while provider.webhook_counts()["forged_accepted"] == 0:  # this merchant takes everything
        assert time.monotonic() < deadline

    provider.set_faults("underpaid", "wrong_currency")
    for number in range(40):
        provider.create(f"short-{number}")
        provider.act(f"short-{number}", "capture")
    captured = [payment for payment in provider.payments() if payment["key"].startswith("short-")]
    assert len(captured) == 40
    assert {payment["captured_minor"] for payment in captured} == {1998, 1999}
    assert {payment["captured_currency"] for payment in captured} == {"CNY", "USD"}

    provider.set_faults("captured_after_void")
    for number in range(40):
        provider.create(f"void-{number}")
        assert provider.act(f"void-{number}", "void")[1]["state"] == "voided"
    merchant.wait_until(lambda received: any(
        event["type"] == "payment.captured" and event["data"]["key"].startswith("void-")
        for event in (json.loads(body) for _, body in received)))

    provider.set_faults("unreachable", "lost")
    seen = set()
    for number in range(200):
        try:
            seen.add(provider.create(f"far-{number}")[0])
        except (http.client.HTTPException, OSError):
            seen.add("no answer")
    assert seen == {201, 503, "no answer"}
    provider.set_faults("none")
    assert provider.create("calm")[0] == 201


def test_what_was_paid_is_known_after_a_restart_with_data(tmp_path):
    with SandboxPay(tmp_path, "--data", "payments.jsonl") as provider:
        provider.start()
        provider.create("paid")
        provider.act("paid", "capture")
        provider.act("tomb", "void")
        before = provider.payments()
        assert provider.kill() != 0
        with (tmp_path / "payments.jsonl").open("a") as journal:
            journal.write('{"key":"half')
        provider.start()
        assert provider.payments() == before
        assert provider.create("tomb")[1]["state"] == "voided"
        assert provider.act("paid", "refund")[1]["state"] == "refunded"
        assert provider.stop() == 0
        provider.start()
        assert provider.state("paid") == "refunded"
        assert provider.stop() == 0


def test_too_much_is_refused(provider):
    assert provider.create("big", reference="r" * 20_000)[0] == 413
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

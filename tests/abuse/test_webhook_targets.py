"""A webhook URL that leads into the private network, however it is spelt."""
import base64
import secrets

import pytest

from lib.receiver import Receiver
from lib.shop import eventually

SECRET = "whsec_" + base64.b64encode(secrets.token_bytes(24)).decode()
# All of them are this machine, the last by a name that only the resolver knows to be.
SPELLINGS = ["127.0.0.1", "127.1", "2130706433", "0x7f000001", "0.0.0.0", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]",
             "localhost"]


def configure(shop, url: str, allow_private: bool) -> None:
    (shop.server.folder / "doorbuster.toml").write_text(
        f'[webhooks]\nurl = "{url}"\nsecrets = "{SECRET}"\nallow_private = {str(allow_private).lower()}\n')
    answer = shop.admin.post("/v1/reload")
    assert answer.status == 200, answer.body


def attempts_at(shop, event: str) -> list:
    """Those since the last time it was sent again; there is at least one."""
    seen = len(shop.admin.get(f"/v1/deliveries/{event}").json["attempts"])
    assert shop.admin.post(f"/v1/deliveries/{event}/resend").status == 200
    def probe():
        return shop.admin.get(f"/v1/deliveries/{event}").json["attempts"][seen:]
    return eventually("it was tried", probe)


@pytest.fixture
def event(shop, scene) -> str:
    """An event that is due, and whose first attempt has been made."""
    with Receiver() as receiver:
        configure(shop, receiver.url, allow_private=True)
        newest = shop.admin.get("/v1/events?after=newest").json["next"]
        scene.sale()
        events = eventually("something happened", lambda: shop.admin.get(f"/v1/events?after={newest}").json["events"])
        eventually("positive control: where it is allowed, it arrives", lambda: receiver.with_id(events[0]["id"]))
        eventually("it is noted", lambda: shop.admin.get("/v1/deliveries?state=pending").json["deliveries"] == [])
        return events[0]["id"]


@pytest.mark.parametrize("host", SPELLINGS)
def test_45_a_private_address_is_refused_after_the_name_was_resolved(shop, event, host):
    with Receiver() as receiver:
        configure(shop, f"http://{host}:{receiver.port}/hooks", allow_private=False)
        for attempt in attempts_at(shop, event):
            assert attempt["status"] is None and attempt["error"], attempt
        assert receiver.received == [], "nothing reached the neighbour"


def test_45_a_redirect_is_not_followed(shop, event):
    with Receiver() as inner, Receiver(lambda received: 307) as outer:
        outer.headers["Location"] = inner.url
        configure(shop, outer.url, allow_private=True)
        assert {attempt["status"] for attempt in attempts_at(shop, event)} == {307}
        assert inner.received == []
        assert outer.with_id(event)


def test_45_the_url_of_a_file_is_no_url(shop, event):
    before = (shop.server.folder / "doorbuster.toml").read_text()
    for url in ("file:///etc/passwd", "gopher://127.0.0.1:6379/_FLUSHALL", "//127.0.0.1/", "127.0.0.1:80"):
        (shop.server.folder / "doorbuster.toml").write_text(f'[webhooks]\nurl = "{url}"\nsecrets = "{SECRET}"\n')
        assert shop.admin.post("/v1/reload").code == "invalid", url
    (shop.server.folder / "doorbuster.toml").write_text(before)

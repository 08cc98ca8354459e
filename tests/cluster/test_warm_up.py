"""A sale opens only on stores that are as they must be; the operator hears what is not, and has books rebuilt by hand."""
import json
import subprocess

import pytest

from lib.server import BINARY, clean_environment
from lib.shop import buy, eventually, ordered
from test_sale import Site, answered


@pytest.fixture
def site(cluster):
    site = Site(cluster).start()
    yield site
    site.close()


@pytest.fixture
def operator(cluster, tmp_path):
    def run(*words):
        return subprocess.run([BINARY, *words], capture_output=True, text=True, cwd=tmp_path, env=clean_environment(
            DOORBUSTER_ADMIN__LISTEN=f"127.0.0.1:{cluster.admin_port}", DOORBUSTER_ADMIN__KEY=cluster.admin_key))
    return run


def test_a_sale_stays_warming_until_what_is_wrong_is_mended(cluster, site, operator):
    redis = cluster.engines.redis
    redis.ask("CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
    try:
        sale = site.create_sale()

        def held():
            status = site.admin.get(f"/v1/sales/{sale}/status").json
            return status if "redis.eviction" in [finding["check"] for finding in status["warm_up"]] else None
        assert eventually("the status says what holds the sale", held)["sale"]["state"] == "warming"
        site.is_everywhere(sale, "warming")
        assert buy(site.buyer(), sale).code == "not_open"
        assert b"doorbuster_sales_late 1" in site.admin.get("/metrics").body
        for words in (["sale", "status", sale], ["sale", "warm", sale]):
            told = operator(*words)
            assert told.returncode == 0 and "CONFIG SET maxmemory-policy noeviction" in told.stdout, told
    finally:
        redis.ask("CONFIG", "SET", "maxmemory-policy", "noeviction")
    buyer = site.buyer()
    eventually("the sale opens", lambda: answered(buyer, sale).status == 202)

    def has_opened():  # the operator's gate may hear of it after the buyer's
        status = site.admin.get(f"/v1/sales/{sale}/status").json
        return (status["sale"]["state"], status["warm_up"]) == ("open", [])
    eventually("the status has nothing against it", has_opened)


def test_books_are_rebuilt_by_hand_and_know_everybody_who_bought(site, operator):
    sale = site.open_sale()
    buyer = site.buyer()
    purchase = answered(buyer, sale).json["id"]
    ordered(buyer, purchase)
    before = site.admin.get(f"/v1/sales/{sale}/rebuild").json["items"]
    done = operator("sale", "rebuild", sale, "phone", "--reason", "a test", "--wait", "-o", "json")
    assert done.returncode == 0, done.stderr
    after = json.loads(done.stdout)["items"]
    assert (before[0]["state"], after[0]["state"]) == ("open", "open") and after[0]["epoch"] > before[0]["epoch"]
    assert answered(buyer, sale).json["id"] == purchase
    assert answered(buyer, sale, "another").code == "limit_reached"

"""One cluster for the session: what breaks in one round is mended in it, and the next one finds it as it was left."""
import shutil
import tempfile
from pathlib import Path

import pytest

from engines import kafka
from engines.cluster import Cluster, Ports
from lib.sandbox import provider_for

# All clients come from one machine, and in a hurry.
SETTINGS = {
    "DOORBUSTER_LIMITS__ADDRESS_PER_SECOND": "0", "DOORBUSTER_LIMITS__BUYER_PER_MINUTE": "0",
    "DOORBUSTER_LIMITS__CHECKS_PER_MINUTE": "0", "DOORBUSTER_LIMITS__GLOBAL_PER_SECOND": "0",
    "DOORBUSTER_LIMITS__BUYERS_PER_ADDRESS_MAX": "0", "DOORBUSTER_OVERLOAD__DETECT": "false",
    # They cancel and buy again all the time, which is what a hoarder does.
    "DOORBUSTER_RISK__STRIKES_SLOW": "1000", "DOORBUSTER_RISK__STRIKES_BAR": "1000",
    # Orders are placed more slowly than units are bought, so that there is always a backlog to lose.
    "DOORBUSTER_ORDERS__RATE_PER_SECOND_MAX": "200", "DOORBUSTER_ORDERS__BATCH_MAX": "32",
}


def pytest_addoption(parser):
    parser.addoption("--rounds", type=int, default=1, help="cluster: rounds of each fault")


@pytest.fixture(scope="session")
def folder():
    """Not pytest's, which nobody else may enter: PostgreSQL does not run as root."""
    folder = Path(tempfile.mkdtemp(prefix="doorbuster-cluster-"))
    folder.chmod(0o711)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def broker():
    """Everything else must be there; a broker has to be fetched from outside, and some machines cannot."""
    why = kafka.is_missing()
    if why and kafka.may_be_skipped():
        print(f"\nNOT TESTED, because there is no Kafka here: {why}")
        pytest.skip(why)
    assert not why, why


@pytest.fixture(scope="session")
def ports():
    return Ports()


@pytest.fixture(scope="session")
def provider(tmp_path_factory, ports):
    """Who is paid, and tells the cluster of it through nginx."""
    with provider_for(tmp_path_factory.mktemp("provider"), ports.nginx) as provider:
        yield provider


@pytest.fixture(scope="session")
def cluster(broker, provider, ports, folder):
    with Cluster(folder, ports, settings={**SETTINGS, **provider.settings()}) as cluster:
        yield cluster.start()

"""One server per module, configured as the module says, and a scene per test that is audited at its end.

With `--backend cluster` it is two servers of a cluster, asked in turn.
"""
import contextlib
import shutil
import tempfile
from pathlib import Path

import pytest

from engines import kafka
from engines.cluster import Engines, Ports
from lib.openapi import Contract
from lib.server import Server
from lib.shop import Shop
from lib.two_gates import TurnShop, TwoGates
from scene import Scene

NOT_ON_A_CLUSTER = {
    "test_31_the_clock_is_set_back_and_forward_during_a_sale":
        "the harness lies to the process and not to the kernel about the time of day, by which librdkafka waits: its "
        "threads then wait for two hours, and the server cannot stop. All that the test asks before that holds",
    "test_10_a_guess_costs_the_same_whether_it_is_right_or_not":
        "who says that a purchase is nobody's has looked in Redis, and in PostgreSQL a second time; ids are hashes",
    "test_37_limits_at_their_edge":
        "a limit of requests is each gate's own; what an address may do at all of them is held by nginx in front",
}


def pytest_addoption(parser):
    parser.addoption("--backend", choices=("embedded", "cluster"), default="embedded", help="abuse: what is attacked")


def pytest_collection_modifyitems(config, items):
    if config.getoption("--backend") != "cluster":
        return
    for item in items:
        if reason := NOT_ON_A_CLUSTER.get(item.originalname):
            item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session")
def contract():
    return Contract()


@pytest.fixture(scope="session")
def engines(request):
    """What a cluster stands on; none for an embedded server."""
    if request.config.getoption("--backend") != "cluster":
        yield None
        return
    why = kafka.is_missing()
    if why and kafka.may_be_skipped():
        pytest.skip(why)
    assert not why, why
    folder = Path(tempfile.mkdtemp(prefix="doorbuster-abuse-"))
    folder.chmod(0o711)  # PostgreSQL runs as another user
    engines = Engines(folder, Ports())
    try:
        yield engines.start()
    finally:
        engines.stop()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def serving(contract, engines, tmp_path_factory):
    """serving(NAME="value", …): a context with a running shop; at its end the server stops in order."""
    @contextlib.contextmanager
    def serve(preexec=None, **settings):
        folder = tmp_path_factory.mktemp("shop")
        with TwoGates(folder, engines, **settings) if engines else Server(folder, **settings) as server:
            server.preexec = preexec
            shop = (TurnShop if engines else Shop)(server, contract).start()
            yield shop
            shop.close()
            assert server.running(), f"the server ended by itself:\n{server.said()}"
            assert server.stop() == 0, server.said()
            server.recount()
    return serve


@pytest.fixture(scope="module")
def settings() -> dict:
    """What a module's server is started with; a module overrides it."""
    return {}


@pytest.fixture(scope="module")
def shop(serving, settings):
    with serving(**settings) as running:
        yield running


@pytest.fixture
def scene(shop):
    """The test's own sales on the module's server."""
    scene = Scene(shop)
    yield scene
    scene.audit()

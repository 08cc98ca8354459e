"""One server per module, configured as the module says, and a scene per test that is audited at its end."""
import contextlib
import subprocess

import pytest

from lib.openapi import Contract
from lib.server import BINARY, Server
from lib.shop import Shop
from scene import Scene

RECOUNT = BINARY.parent / "doorbuster-recount"


@pytest.fixture(scope="session")
def contract():
    return Contract()


def recount(server: Server) -> None:
    """The records of a stopped server, recounted by a judge that shares no logic with the book."""
    result = subprocess.run([RECOUNT, server.data], capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.fixture(scope="module")
def serving(contract, tmp_path_factory):
    """serving(NAME="value", …): a context with a running shop; at its end the server stops in order."""
    @contextlib.contextmanager
    def serve(preexec=None, **settings):
        with Server(tmp_path_factory.mktemp("shop"), **settings) as server:
            server.preexec = preexec
            shop = Shop(server, contract).start()
            yield shop
            shop.close()
            assert server.running(), f"the server ended by itself:\n{server.said()}"
            assert server.stop() == 0, server.said()
            recount(server)
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

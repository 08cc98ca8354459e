"""One OpenAPI document per session, one server per module, and servers of one's own on request."""
import pytest

from lib.openapi import Contract
from lib.server import Server
from lib.shop import Shop


@pytest.fixture(scope="session")
def contract():
    return Contract()


@pytest.fixture(scope="module")
def shop(contract, tmp_path_factory):
    """Shared by a module's tests: each works with sales of its own."""
    with Server(tmp_path_factory.mktemp("shop")) as server:
        shop = Shop(server, contract).start()
        yield shop
        shop.close()
        assert server.running(), f"the server ended by itself:\n{server.said()}"
        assert server.stop() == 0, server.said()


@pytest.fixture
def own_shop(contract, tmp_path):
    """Not started yet, and the test's alone: to be stopped, killed and spoilt."""
    with Server(tmp_path / "shop") as server:
        shop = Shop(server, contract)
        yield shop
        shop.close()
        if server.running():  # then it ends well, whatever the test did to it
            assert server.stop() == 0, server.said()


@pytest.fixture
def configured(own_shop):
    """configured(text): a running shop whose file says this; `shop.write(text)` changes the file."""
    folder = own_shop.server.folder
    folder.mkdir()

    def start(text: str, **settings):
        own_shop.write = (folder / "doorbuster.toml").write_text
        own_shop.write(text)
        own_shop.server.settings.update(settings)
        return own_shop.start()
    return start

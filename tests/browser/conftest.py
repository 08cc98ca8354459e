"""What the browser tests need from npm, one Chromium for all of them, and a shop that takes money."""
import fcntl
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from browser import Driver
from lib.sandbox import Sandbox, free_port
from lib.server import Server
from lib.shop import Shop
from visits import COOKIE, Visits

HERE = Path(__file__).resolve().parent
INSTALLED = HERE.parents[1] / "build" / "browser"


@pytest.fixture(scope="session")
def node_modules() -> Path:
    lock, done = HERE / "package-lock.json", INSTALLED / "installed-package-lock.json"
    INSTALLED.mkdir(parents=True, exist_ok=True)
    with open(INSTALLED / "one-at-a-time", "w") as one_at_a_time:  # several workers come here at once
        fcntl.flock(one_at_a_time, fcntl.LOCK_EX)
        install(lock, done)
    return INSTALLED / "node_modules"


def install(lock: Path, done: Path) -> None:
    if not done.exists() or done.read_bytes() != lock.read_bytes():
        for name in ("package.json", "package-lock.json"):
            shutil.copyfile(HERE / name, INSTALLED / name)
        # No package may run anything of its own: what is needed is files.
        result = subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=INSTALLED,
                                capture_output=True, text=True)
        assert result.returncode == 0, result.stdout + result.stderr
        shutil.copyfile(lock, done)


@pytest.fixture(scope="session")
def chromium() -> str:
    found = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    assert found, "no Chromium: on Debian it is the package chromium"
    # Otherwise the pictures of the Chinese pages are boxes, and widths are not those that buyers see.
    fonts = subprocess.run(["fc-list", ":lang=zh"], capture_output=True, text=True, check=True).stdout
    assert fonts, "no Chinese font: on Debian one is the package fonts-wqy-microhei"
    return found


@pytest.fixture(scope="session")
def driver(node_modules, chromium):
    driver = Driver(node_modules, chromium)
    yield driver
    driver.close()


@pytest.fixture(scope="session")
def paid_shop(tmp_path_factory):
    """A shop and its provider, for all tests: each works with sales of its own."""
    folder, port = tmp_path_factory.mktemp("browser"), free_port()
    with Sandbox(folder, f"http://127.0.0.1:{port}/v1/payments/webhook") as provider:
        provider.start()
        with Server(folder / "shop", DOORBUSTER_SERVER__LISTEN=f"127.0.0.1:{port}",
                    DOORBUSTER_SERVER__IDLE_DEADLINE_MS="600000",  # some tests have nothing to ask the operator for long
                    DOORBUSTER_IDENTITY__COOKIE=COOKIE, DOORBUSTER_PAGE__COOLDOWN_MS="1000",
                    DOORBUSTER_PAYMENTS__LOOK_MS_MIN="200", DOORBUSTER_PAYMENTS__LOOK_MS_MAX="1000",
                    DOORBUSTER_PAYMENTS__RETURN_URL=f"http://127.0.0.1:{port}/orders", **provider.settings()) as server:
            shop = Shop(server).start()
            shop.provider = provider
            yield shop
            shop.close()
            assert server.stop() == 0, server.said()
        assert provider.stop() == 0, provider.said


@pytest.fixture
def shop(paid_shop) -> Shop:
    return paid_shop


@pytest.fixture
def visits(driver, shop):
    visits = Visits(driver, shop)
    yield visits
    visits.end()


@pytest.fixture
def own_shop(tmp_path):
    """Not started yet, and the test's alone: to be killed, and to come back on the same port."""
    with Server(tmp_path / "shop", DOORBUSTER_SERVER__LISTEN=f"127.0.0.1:{free_port()}") as server:
        shop = Shop(server)
        yield shop
        shop.close()


@pytest.fixture
def late_shop(tmp_path):
    """A shop with a provider of its own, to be stopped and made to forget."""
    port = free_port()
    with Sandbox(tmp_path, f"http://127.0.0.1:{port}/v1/payments/webhook") as provider:
        provider.start()
        with Server(tmp_path / "shop", DOORBUSTER_SERVER__LISTEN=f"127.0.0.1:{port}",
                    DOORBUSTER_PAYMENTS__LOOK_MS_MIN="200", DOORBUSTER_PAYMENTS__LOOK_MS_MAX="1000",
                    **provider.settings()) as server:
            shop = Shop(server).start()
            yield shop, provider
            shop.close()

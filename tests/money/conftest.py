import secrets

import pytest


def pytest_addoption(parser):
    parser.addoption("--money-orders", type=int, default=3000, help="buyers in the round with every fault")
    parser.addoption("--money-kills", type=int, default=8, help="how often the server is killed meanwhile")
    parser.addoption("--money-seed", type=int, default=None, help="of the buyers' and the provider's dice")


@pytest.fixture
def seed(request) -> int:
    given = request.config.getoption("--money-seed")
    return secrets.randbelow(1 << 32) if given is None else given

"""Puts the tests marked `last` at the end: they judge what the others have seen."""


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: item.get_closest_marker("last") is not None)


def pytest_addoption(parser):
    parser.addoption("--kills", type=int, default=100, help="crash: how often the server is killed")
    parser.addoption("--seed", type=int, default=None, help="repeat the choices of an earlier run")

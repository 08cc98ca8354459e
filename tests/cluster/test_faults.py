"""Each fault at a random moment under load; then every promise is counted."""
import random

from faults import FAULTS
from fault_round import Round


def pytest_generate_tests(metafunc):
    if "fault" in metafunc.fixturenames:
        rounds = metafunc.config.getoption("--rounds")
        metafunc.parametrize("fault, number", [(name, number) for name in FAULTS for number in range(1, rounds + 1)])


def test_every_promise_is_kept(cluster, tmp_path, request, fault, number):
    seed = request.config.getoption("--seed")
    if seed is None:
        seed = random.SystemRandom().randrange(1 << 32)
    here = Round(cluster, FAULTS[fault], tmp_path, seed)
    print(f"\ncluster: {fault}, round {number}, seed {seed}", flush=True)
    try:
        here.run()
    finally:
        here.write_histories()
    print(f"cluster: {here.told()}", flush=True)
    if here.report.faults:
        here.report.print()
    assert dict(here.report.faults) == {}
    for promise in ("P1", "P2", "P3", "P4", "P5", "P6"):
        assert any(of == promise for of, _ in here.report.checked), f"{promise} was not even looked at"
    for item, (left, sold) in here.last_sold.items():
        assert left == sold, f"{item}: {left} were available, {sold} could be bought"

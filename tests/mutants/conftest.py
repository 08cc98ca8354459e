"""How many of the mutants are built, and which."""
import random


def pytest_addoption(parser):
    parser.addoption("--mutants", type=int, default=None, help="so many of them, drawn anew each time (all)")


def pytest_collection_modifyitems(config, items):
    wanted = config.getoption("--mutants")
    mutants = [item for item in items if "mutant" in getattr(item, "fixturenames", ())]
    if wanted is None or wanted >= len(mutants):
        return
    given = config.getoption("--seed")
    seed = given if given is not None else random.SystemRandom().randrange(1 << 32)
    drawn = random.Random(seed).sample(mutants, wanted)
    print(f"mutants: {wanted} of {len(mutants)}, seed {seed}; `./test mutants` builds them all")
    items[:] = [item for item in items if item not in mutants or item in drawn]

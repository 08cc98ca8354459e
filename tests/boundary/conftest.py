"""Makes the modules of this folder, and the judge of the crash run, importable by their names."""
import sys
from pathlib import Path

here = Path(__file__).resolve().parent
sys.path[:0] = [str(here), str(here.parent / "crash")]


def pytest_addoption(parser):
    parser.addoption("--boundary-step", type=int, default=1, help="a crash at one boundary in so many (1: at every one)")

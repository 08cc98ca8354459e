"""Makes the modules of this folder, and the judge of the crash run, importable by their names."""
import sys
from pathlib import Path

here = Path(__file__).resolve().parent
sys.path[:0] = [str(here), str(here.parent / "crash")]

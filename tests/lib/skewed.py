"""The time of day that a server sees, put off by any number of seconds while it runs."""
import glob
import os
import re
import subprocess
from pathlib import Path

from lib.server import BINARY


class SkewedClock:
    def __init__(self, folder: Path):
        self._offset = folder / "offset"
        self.set(0)

    def set(self, seconds: int) -> None:
        """From now on the time of day is off by so much."""
        fresh = self._offset.with_suffix(".new")
        fresh.write_text(f"{seconds:+d}\n")
        os.replace(fresh, self._offset)

    def settings(self) -> dict:
        """For the server's environment."""
        libraries = glob.glob("/usr/lib/*/faketime/libfaketimeMT.so.1")
        assert libraries, "libfaketime is missing: scripts/setup installs it"
        return {"LD_PRELOAD": " ".join([*_sanitizers(), libraries[0]]),
                "FAKETIME_TIMESTAMP_FILE": str(self._offset), "FAKETIME_NO_CACHE": "1",
                "FAKETIME_DONT_FAKE_MONOTONIC": "1", "FAKETIME_DONT_RESET": "1"}


def _sanitizers() -> list:
    """A sanitizer that the server is linked with has to be loaded before anything else."""
    linked = subprocess.run(["ldd", BINARY], capture_output=True, text=True, check=True).stdout
    return re.findall(r"=> (\S*/lib[at]san\.\S+)", linked)

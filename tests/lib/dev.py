"""A running `doorbuster dev`."""
import contextlib
import subprocess
from pathlib import Path

from lib.server import BINARY, READY, STOP_S_MAX, clean_environment


@contextlib.contextmanager
def dev_shop(folder: Path, **settings: str):
    """In this folder, on free ports; the public one is what the context gives. It must stop in order."""
    process = subprocess.Popen([BINARY, "dev"], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               text=True, env=clean_environment(DOORBUSTER_SERVER__LISTEN="127.0.0.1:0",
                                                                DOORBUSTER_ADMIN__LISTEN="127.0.0.1:0", **settings))
    try:
        ready = next((found for found in map(READY.search, process.stdout) if found), None)
        assert ready, "it ended before it was ready"
        yield int(ready[1])
    finally:
        process.terminate()
        process.stdout.read()
        assert process.wait(STOP_S_MAX) == 0

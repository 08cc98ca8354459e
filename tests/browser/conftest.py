"""What the browser tests need from npm, installed beside the build and only when it changed."""
import os
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
INSTALLED = HERE.parents[1] / "build" / "browser"


@pytest.fixture(scope="session")
def node_modules() -> Path:
    lock, done = HERE / "package-lock.json", INSTALLED / "installed-package-lock.json"
    if not done.exists() or done.read_bytes() != lock.read_bytes():
        INSTALLED.mkdir(parents=True, exist_ok=True)
        for name in ("package.json", "package-lock.json"):
            shutil.copyfile(HERE / name, INSTALLED / name)
        # No package may run anything of its own: what is needed is files.
        result = subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=INSTALLED,
                                capture_output=True, text=True)
        assert result.returncode == 0, result.stdout + result.stderr
        shutil.copyfile(lock, done)
    return INSTALLED / "node_modules"


@pytest.fixture(scope="session")
def chromium() -> str:
    found = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    assert found, "no Chromium: on Debian it is the package chromium"
    return found

"""Builds each mutant of the product into its judge and lets that run until it is caught.

The tree is copied, so that the mistakes never touch the one that is tested.
"""
import json
import os
import re
import resource
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from mutants import MUTANTS

ROOT = Path(__file__).resolve().parents[2]
RELEASE, WORK = ROOT / "build" / "release", ROOT / "build" / "mutants"
RELEASE_SETTINGS = [f"-D{name}={value}" for preset in json.loads((ROOT / "CMakePresets.json").read_text())["configurePresets"]
                    if preset["name"] == "release" for name, value in preset["cacheVariables"].items()]
CPU_S_MAX = 120  # a minute of two cores: how long that takes on a machine that has other things to do says nothing
SECONDS_MAX = 240  # bounds on a hang, and on a mutant that nobody finds
EVERY = 5  # boundaries between two crashes: a mistake of the store opens a gap of several
# Without a mistake, a few of them show that the judge can be trusted; `./test boundary` meets them all.
EVERY_SOUND, CRASHES_SOUND, SECONDS_SOUND_MAX = 32, 30, 600
# What each judge says of a broken promise. That a server did not start, or ended otherwise than it should, is none.
SAYS_OF_BROKEN = {"sim": r"broken: |doorbuster: CHECK failed", "cluster": r"broken: |doorbuster: CHECK failed",
                  "store": r"\[  FAILED  \]|doorbuster: CHECK failed", "boundary": r"--at=.*?\): (P\d+|recount): "}


def replace_file(source: Path, target: Path) -> None:
    """Only what differs, so that what was built before stays built."""
    if not target.exists() or source.read_bytes() != target.read_bytes():
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)


def build(target: str) -> None:
    result = subprocess.run(["ninja", "-C", WORK / "build", target], capture_output=True, text=True)
    assert result.returncode == 0, result.stdout[-4000:]


def find_compiling(commands: list, file: Path) -> tuple:
    """The command that compiles the file, alone or together with others, and the text that it compiles."""
    included = f'#include "{file}"'
    for command in commands:
        compiled = re.search(r" -c (\S+)$", command)
        if compiled is None:
            continue
        if compiled[1] == str(file):
            return command, included
        if compiled[1].endswith(".cxx") and included in Path(compiled[1]).read_text():
            return command, Path(compiled[1]).read_text()
    raise AssertionError(f"nothing compiles {file}")


def build_crashable(mutant, source: Path) -> None:
    """The program as it was built, with one object compiled anew: it comes before the libraries, so that theirs
    of the same names is not taken."""
    commands = subprocess.run(["ninja", "-C", RELEASE, "-t", "commands", "doorbuster-crashable"], check=True,
                              capture_output=True, text=True).stdout.splitlines()
    compiling, text = find_compiling(commands, ROOT / mutant.file)
    wrong, wrong_object = WORK / "wrong.cpp", WORK / "wrong.o"
    wrong.write_text(text.replace(f'"{ROOT / mutant.file}"', f'"{source}"'))
    its_object = re.search(r" -o (\S+)", compiling).group(1)
    compiling = compiling.replace(f" -o {its_object}", f" -o {wrong_object}").replace(f"{its_object}.d", f"{wrong_object}.d")
    compiling = re.sub(r" -c \S+$", f" -c {wrong}", compiling).replace("-Werror", "")
    linking = re.sub(r" -o \S+", f" {wrong_object} -o {WORK / 'doorbuster-crashable'}", commands[-1], count=1)
    for command in (compiling, linking):
        result = subprocess.run(command, shell=True, cwd=RELEASE, capture_output=True, text=True)
        assert result.returncode == 0, result.stderr[-4000:]


def cpu_s() -> float:
    """Of all that were waited for so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def simulate(seconds: int, *options: str) -> subprocess.CompletedProcess:
    return subprocess.run([WORK / "build" / "doorbuster-sim", f"--seconds={seconds}", *options],
                          capture_output=True, text=True, timeout=SECONDS_MAX + 60)


def run_store_tests() -> subprocess.CompletedProcess:
    return subprocess.run([WORK / "build" / "unit" / "store_sqlite_test"], capture_output=True, text=True,
                          timeout=SECONDS_MAX)


def crash_at_boundaries(*options: str, seconds_max: int) -> subprocess.CompletedProcess:
    """In a group of its own, so that no server is left behind where it has to be ended."""
    shutil.copy(RELEASE / "doorbuster-recount", WORK / "doorbuster-recount")
    environment = {**os.environ, "DOORBUSTER_BINARY": str(WORK / "doorbuster")}
    command = ["/usr/bin/python3", ROOT / "tests" / "boundary" / "boundary.py", *options]
    running = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               process_group=0)
    try:
        said = running.communicate(timeout=seconds_max)
    except BaseException:  # also ^C, which another group does not hear
        os.killpg(running.pid, signal.SIGKILL)
        running.communicate()
        raise
    return subprocess.CompletedProcess(command, running.returncode, *said)


@pytest.fixture(scope="module")
def copy() -> Path:
    """A copy of the sources, configured; the mistakes of an earlier run are gone."""
    tree = WORK / "tree"
    for folder in ("src", "sim", "cmake"):
        for source in (ROOT / folder).rglob("*"):
            if source.is_file():
                replace_file(source, tree / source.relative_to(ROOT))
    whole = (ROOT / "CMakeLists.txt").read_text()
    # The simulator needs neither the load generator nor the benchmarks.
    kept = re.sub(r"add_subdirectory\((?!src\)|sim\)).*\)\n", "", whole)
    # A mistake may leave a name unused; that is not how it is to be found.
    (tree / "CMakeLists.txt").write_text(kept.replace("-Werror", ""))
    environment = {**os.environ, "CCACHE_BASEDIR": str(tree)}
    result = subprocess.run(["cmake", "-S", tree, "-B", WORK / "build", "-G", "Ninja", *RELEASE_SETTINGS],
                            env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return tree


@pytest.mark.parametrize("options", [(), ("--cluster",)], ids=["embedded", "cluster"])
def test_without_a_mistake_nothing_is_found(options, copy):
    build("doorbuster-sim")
    result = simulate(10, f"--seconds-max={SECONDS_MAX}", *options)
    assert result.returncode == 0, result.stdout + result.stderr


def test_without_a_mistake_no_boundary_breaks_a_promise():
    WORK.mkdir(exist_ok=True)
    shutil.copy(RELEASE / "doorbuster-crashable", WORK / "doorbuster-crashable")
    result = crash_at_boundaries(f"--every={EVERY_SOUND}", f"--crashes-max={CRASHES_SOUND}",
                                 seconds_max=SECONDS_SOUND_MAX)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_its_judge_catches(mutant, copy):
    path = copy / mutant.file
    right = path.read_text()
    assert right.count(mutant.right) == 1, f"the line of this mutant has changed in {mutant.file}"
    path.write_text(right.replace(mutant.right, mutant.wrong))
    try:
        if mutant.judge == "sim":
            build("doorbuster-sim")
            before = cpu_s()
            result = simulate(SECONDS_MAX)
        elif mutant.judge == "cluster":
            build("doorbuster-sim")
            before = cpu_s()
            result = simulate(SECONDS_MAX, "--cluster")
        elif mutant.judge == "store":
            build("store_sqlite_test")
            before = cpu_s()
            result = run_store_tests()
        else:
            build_crashable(mutant, path)
            before = cpu_s()
            result = crash_at_boundaries(f"--every={EVERY}", seconds_max=SECONDS_MAX)
    finally:
        path.write_text(right)
    took_s = cpu_s() - before
    said = result.stdout + result.stderr
    found = [line for line in said.splitlines() if re.match(SAYS_OF_BROKEN[mutant.judge], line)]
    assert result.returncode != 0, f"it ran for {took_s:.0f} s of CPU and nobody noticed"
    ended = "an uncaught exception" if "terminate called" in said else f"exit status {result.returncode}"
    assert found, f"{ended} ended it, and no judge said why:\n{said[-4000:]}"
    if mutant.judge in ("sim", "cluster"):
        assert "replay: doorbuster-sim " in said, f"nobody can see again what was found:\n{said}"
    print(f"\n{mutant.name}: {found[0]} ({took_s:.0f} s of CPU)")
    assert took_s <= CPU_S_MAX

"""The parts of the test suite: builds, runs the ones asked for, counts what the tools report.

Called by ./test. A part is one row of PARTS; it yields a Count that comes from the
tool's own report. A part that executed no test has failed.
"""
import argparse
import itertools
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as xml
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "release"
BROWSERS = 4  # at once, each with a server of its own; they wait more than they work
FUZZ_RUNS_MIN = 100  # fewer, and it hung on something
BOUNDARY_STEP_SHORT = 24  # one in so many boundaries; which ones, the seed says
MUTANTS_SHORT = 6
CLUSTER_ROUNDS = 5  # of each fault
SIM_SECONDS_MAX = 900  # where a busy machine needs longer for enough of everything
# Unit tests that start threads: what the thread sanitizer can judge.
THREADED = ("base", "sale", "shard", "orders", "audit", "funnel", "http", "file_watch", "key_watch", "provider")


@dataclass
class Count:
    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other):
        return Count(self.passed + other.passed, self.failed + other.failed, self.skipped + other.skipped)

    def __str__(self):
        skipped = f", {self.skipped} skipped" if self.skipped else ""
        return f"{self.passed} passed, {self.failed} failed{skipped}"


@dataclass
class Part:
    name: str
    what: str
    about: str  # how long it takes, for --help
    run: Callable[[argparse.Namespace], Count]
    builds: tuple = ()  # what it needs: a preset, or a preset and targets of it
    builds_whole: tuple = ()  # what its whole round needs beside them
    lane: str = ""  # neighbours of one lane mostly wait, and run at the same time; their `run` takes `said`, too


def is_whole(part: str, options: argparse.Namespace) -> bool:
    """Long campaigns run whole where they are asked for by name; a run of everything has a short round of each."""
    return options.whole or part in options.parts


def run_format(_options) -> Count:
    """One test per file, so that the count says how much was looked at."""
    folders = [ROOT / name for name in ("src", "tests", "sim", "bench", "load")]
    files = sorted(path for folder in folders for pattern in ("*.cpp", "*.hpp") for path in folder.rglob(pattern))

    def check(path):
        return subprocess.run(["clang-format-16", "--dry-run", "-Werror", "--style=file", str(path)],
                              cwd=ROOT, capture_output=True, text=True)

    count = Count()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for path, result in zip(files, pool.map(check, files)):
            if result.returncode == 0:
                count.passed += 1
            else:
                count.failed += 1
                print(f"not formatted: {path.relative_to(ROOT)} (clang-format-16 -i mends it)")
    return count


def unit_programs(build: Path) -> list:
    """As CMake registered them: a program left over from an older build is not run."""
    listing = subprocess.run(["ctest", "--test-dir", str(build), "--show-only=json-v1"],
                             capture_output=True, text=True, check=True)
    return [(test["name"], test["command"]) for test in json.loads(listing.stdout)["tests"] if "command" in test]


def count_gtest(report: Path, status: int) -> Count:
    count = Count()
    try:
        suites = json.loads(report.read_text())["testsuites"]
    except (OSError, ValueError):
        return Count(failed=1)  # it died before it could report
    for case in (case for suite in suites for case in suite["testsuite"]):
        if case.get("failures"):
            count.failed += 1
        elif case["status"] == "NOTRUN" or case["result"] != "COMPLETED":
            count.skipped += 1
        else:
            count.passed += 1
    if status != 0 and count.failed == 0:
        count.failed += 1
    return count


def run_unit(_options, build: Path = BUILD, only: tuple = ()) -> Count:
    """One program more at once than there are cores: those with real engines mostly wait."""
    def run(program, scratch):
        name, command = program
        report = Path(scratch) / f"{name}.json"
        folder = Path(scratch) / name
        folder.mkdir()
        began = time.monotonic()
        result = subprocess.run([*command, f"--gtest_output=json:{report}", "--gtest_brief=1"],
                                cwd=folder, capture_output=True, text=True, errors="replace")
        return name, result, count_gtest(report, result.returncode), time.monotonic() - began

    programs = [program for program in unit_programs(build) if not only or program[0] in only]
    total = Count()
    with tempfile.TemporaryDirectory(prefix="doorbuster-unit-") as scratch, \
            ThreadPoolExecutor(os.cpu_count() + 1) as pool:
        for name, result, count, took in pool.map(run, programs, [scratch] * len(programs)):
            total += count
            if count.failed or count.skipped:
                print(result.stdout + result.stderr)
                if result.returncode < 0:
                    print(f"{name} was ended by signal {-result.returncode}")
            print(f"  {name:14} {count}  ({took:.1f} s)", flush=True)
    return total


def run_pytest(folder: str, *arguments: str, build: Path = BUILD, said=None) -> Count:
    """`said` is the file that its output goes to; none: it is shown as it comes."""
    with tempfile.TemporaryDirectory(prefix="doorbuster-pytest-") as scratch:
        report = Path(scratch) / "report.xml"
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "DOORBUSTER_BINARY": str(build / "doorbuster"),
                       "TSAN_OPTIONS": "halt_on_error=1"}
        status = subprocess.run(
            ["/usr/bin/python3", "-m", "pytest", "-c", "tests/pytest.ini", f"tests/{folder}",
             f"--junit-xml={report}", *arguments], cwd=ROOT, env=environment, stdout=said,
            stderr=said and subprocess.STDOUT).returncode
        if not report.exists():
            return Count(failed=1)
        count = Count()
        for suite in xml.parse(report).getroot().iter("testsuite"):
            tests, failures, errors, skipped = (int(suite.get(key, 0))
                                                for key in ("tests", "failures", "errors", "skipped"))
            bad = failures + errors
            count += Count(max(0, tests - bad - skipped), bad, skipped)
        if status not in (0, 5) and count.failed == 0:
            count.failed += 1
        return count


def captured(run: Callable) -> tuple:
    """What `run` returns, and what was written into the file that it got."""
    with tempfile.TemporaryFile("w+", errors="replace") as said:
        result = run(said)
        said.seek(0)
        return result, said.read()


def run_integration(_options, said=None) -> Count:
    return run_pytest("integration", said=said)


def run_abuse(options, said=None) -> Count:
    count = run_pytest("abuse", said=said)
    if is_whole("abuse", options):
        print("-- the same against two gates of a cluster, asked in turn", file=said, flush=True)
        count += run_pytest("abuse", "--backend=cluster", said=said)
    return count


def run_browser(_options) -> Count:
    return run_pytest("browser", "-n", str(BROWSERS))


def run_image(_options) -> Count:
    return run_pytest("image", "-s")


def run_model(_options) -> Count:
    return run_pytest("model", "-s")


def run_alerts(_options) -> Count:
    return run_pytest("alerts")


def run_fuzz(options) -> Count:
    """One test per fuzzer. What is found stays in the build folder, as does the corpus, which grows from run to run."""
    build, seeds = ROOT / "build" / "fuzz", ROOT / "tests" / "fuzz" / "seeds"
    names = sorted(path.name.removesuffix("_fuzz.cpp") for path in (ROOT / "tests" / "fuzz").glob("*_fuzz.cpp"))
    seconds = options.fuzz_seconds or (120 if is_whole("fuzz", options) else 5)

    def fuzz(name):
        corpus, found = build / "corpus" / name, build / "found"
        corpus.mkdir(parents=True, exist_ok=True)
        found.mkdir(exist_ok=True)
        return subprocess.run(
            [build / "fuzzers" / f"{name}_fuzz", corpus, seeds / name, f"-max_total_time={seconds}", "-max_len=2048",
             "-timeout=60", "-rss_limit_mb=2048", "-print_final_stats=1", f"-artifact_prefix={found}/{name}-"],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")

    count = Count()
    with ThreadPoolExecutor(2) as pool:
        for name, result in zip(names, pool.map(fuzz, names)):
            runs = re.search(r"stat::number_of_executed_units:\s+(\d+)", result.stderr)
            if result.returncode == 0 and runs and int(runs[1]) >= FUZZ_RUNS_MIN:
                count.passed += 1
            else:
                count.failed += 1
                print(result.stderr[-8000:])
                for kept in re.findall(r"Test unit written to (\S+)", result.stderr):
                    print(f"again: {build / 'fuzzers' / name}_fuzz {kept}")
            print(f"  {name:16} {runs[1] if runs else 'no'} inputs", flush=True)
    return count


def run_crash(options) -> Count:
    # On the disk of the build: where /tmp is memory, a commit takes no time and no kill can meet it.
    arguments = ["-s", f"--kills={options.kills}", f"--basetemp={BUILD / 'crash'}"]
    if options.seed is not None:
        arguments.append(f"--seed={options.seed}")
    return run_pytest("crash", *arguments)


def run_money(options) -> Count:
    arguments = ["-s", f"--money-orders={options.orders}", f"--money-kills={options.money_kills}",
                 f"--basetemp={BUILD / 'money'}"]
    if options.seed is not None:
        arguments.append(f"--money-seed={options.seed}")
    return run_pytest("money", *arguments)


def run_boundary(options) -> Count:
    arguments = ["-s"] if is_whole("boundary", options) else ["-s", f"--boundary-step={BOUNDARY_STEP_SHORT}"]
    if options.seed is not None:
        arguments.append(f"--seed={options.seed}")
    return run_pytest("boundary", *arguments)


def run_cluster(options) -> Count:
    rounds = options.rounds or (CLUSTER_ROUNDS if is_whole("cluster", options) else 1)
    arguments = ["-s", f"--rounds={rounds}"]
    if options.seed is not None:
        arguments.append(f"--seed={options.seed}")
    return run_pytest("cluster", *arguments)


def run_sim(options) -> Count:
    """Two tests: fresh seeds for a while, of one process and of the cluster. It says itself which seed shows a failure
    again. A minute of two cores is worth 5,000 seeds of one process: 24 ms of CPU each, where 5 are usual."""
    seeds_per_minute = 5000
    is_long = is_whole("sim", options)
    seconds = options.sim_seconds or (60 if is_long else 20)
    cluster_seconds = options.sim_seconds or (60 if is_long else 20)
    total = Count()
    for arguments in ([f"--seconds={seconds}", f"--seeds-min={seconds * seeds_per_minute // 60}",
                       f"--cpu-ms-max={2 * 60_000 / seeds_per_minute:g}"],
                      ["--cluster", f"--seconds={cluster_seconds}", f"--seeds-min={cluster_seconds}"]):
        arguments.append(f"--seconds-max={SIM_SECONDS_MAX}")
        status = subprocess.run([BUILD / "doorbuster-sim", *arguments]).returncode
        total += Count(passed=1) if status == 0 else Count(failed=1)
    return total


def run_mutants(options) -> Count:
    arguments = ["-s"] if is_whole("mutants", options) else ["-s", f"--mutants={MUTANTS_SHORT}"]
    if options.seed is not None:
        arguments.append(f"--seed={options.seed}")
    return run_pytest("mutants", *arguments)


def run_sanitize(options) -> Count:
    """The unit tests of one, then of the other; the integration tests, which mostly wait, of both at once."""
    builds = {name: ROOT / "build" / name for name in ("asan", "tsan")}
    total = Count()
    for name, build in builds.items():
        print(f"-- {name}: unit", flush=True)
        only = THREADED if name == "tsan" and not is_whole("sanitize", options) else ()
        total += run_unit(options, build, only)

    def integrate(build):
        return captured(lambda said: run_pytest("integration", build=build, said=said))

    with ThreadPoolExecutor(len(builds)) as pool:
        for name, (count, said) in zip(builds, pool.map(integrate, builds.values())):
            print(f"-- {name}: integration\n{said}", flush=True)
            total += count
    return total


# In the order in which they run: the quick ones first.
PARTS = [
    Part("format", "clang-format over every C++ file", "5 s", run_format),
    Part("alerts", "the alert rules, each with a case that fires and one that does not", "10 s", run_alerts),
    Part("model", "every order of events of payment and of the cluster, and each rule of them removed", "2 min", run_model),
    Part("unit", "the unit tests beside the code", "1 min", run_unit, ("release",)),
    Part("integration", "a real server, over HTTP and the command line", "2 min", run_integration, ("release",),
         lane="waiting"),
    Part("abuse", "every case of abuse against a real server, with honest buyers beside it",
         "2 min; by name 6 min, against two gates of a cluster, too", run_abuse,
         ("release",), lane="waiting"),
    Part("browser", "the buyer's pages in Chromium: every state in every language, whatever breaks", "4 min",
         run_browser, ("release",)),
    Part("image", "tesseract against the pictures of the human check, and a sheet of them to read", "10 s", run_image,
         ("release",)),
    Part("crash", "a real server under load, killed again and again, then audited", "3 min", run_crash,
         ("release",)),
    Part("money", "thousands of orders against a provider that lies, the server killed meanwhile", "3 min", run_money,
         ("release",)),
    Part("boundary", "a real server, ended at every write of its data folder, by kill and by power cut",
         "3 min; by name 20 to 60 min", run_boundary, ("release",)),
    Part("cluster", "two gates and two workers on real engines, each of them killed, emptied, rolled back or frozen",
         "3 min; by name 12 min", run_cluster, ("release",)),
    Part("sim", "simulated sales from fresh seeds, of one process and of the cluster, with every fault",
         "40 s; by name 2 min", run_sim, ("release",)),
    Part("mutants", "one-line mistakes, each built and caught by the simulator", "3 min; by name 7 to 12 min", run_mutants,
         ("release",)),
    Part("fuzz", "made-up input for every reader of what comes from outside", "30 s; by name 10 min", run_fuzz,
         ("fuzz fuzzers",)),
    Part("sanitize", "unit and integration under ASan+UBSan and under TSan", "10 min; by name 13 min", run_sanitize,
         ("asan checked", f"tsan doorbuster {' '.join(f'{name}_test' for name in THREADED)}"), ("tsan checked",)),
]


def parse_arguments():
    parts = "\n".join(f"  {part.name:14} {part.what} (about {part.about})" for part in PARTS)
    parser = argparse.ArgumentParser(
        prog="./test",
        description="Sets up, builds and tests. Without a PART everything runs, with a short round of the long ones.",
        epilog=f"parts, in the order in which they run:\n{parts}",
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", metavar="PART", nargs="*", help="run only these parts")
    parser.add_argument("--whole", action="store_true", help="with every part: its whole round, as when it is named")
    parser.add_argument("--kills", type=int, default=100, help="crash: how often the server is killed (100)")
    parser.add_argument("--orders", type=int, default=3000, help="money: how many buyers (3000)")
    parser.add_argument("--money-kills", type=int, default=8, help="money: how often the server is killed (8)")
    parser.add_argument("--rounds", type=int,
                        help=f"cluster: rounds of each fault ({CLUSTER_ROUNDS} if cluster is named as a PART, else 1)")
    parser.add_argument("--sim-seconds", type=int,
                        help="sim: for how long fresh seeds are run, each (60 if sim is named as a PART, else 20)")
    parser.add_argument("--fuzz-seconds", type=int,
                        help="fuzz: for how long each fuzzer runs (120 if fuzz is named as a PART, else 5)")
    parser.add_argument("--seed", type=int, help="crash, boundary, money, cluster, mutants: repeat the choices of an earlier run")
    options = parser.parse_args()
    names = [part.name for part in PARTS]
    for name in options.parts:
        if name not in names:
            parser.error(f"there is no part '{name}'; the parts are {', '.join(names)}")
    return options


def run_lane(parts: list, options: argparse.Namespace):
    """One part, which shows what it does as it does it; or several at once, each shown when all have ended."""
    def run(part, **more):
        began = time.monotonic()
        count = part.run(options, **more)
        if count.passed + count.failed == 0:
            print(f"{part.name}: no test was executed")
            count.failed += 1
        return part, count, time.monotonic() - began

    for part in parts:
        print(f"== {part.name}: {part.what}", flush=True)
    if len(parts) == 1:
        yield run(parts[0])
        return
    with ThreadPoolExecutor(len(parts)) as pool:
        for ran, text in pool.map(lambda part: captured(lambda said: run(part, said=said)), parts):
            print(f"-- {ran[0].name}\n{text}", flush=True)
            yield ran


class Builds:
    """What the chosen parts need, in the order in which they need it. The first is waited for; the others are built
    beside the tests, which mostly wait and go first."""

    def __init__(self, chosen: list, options: argparse.Namespace):
        targets = {}
        for part in chosen:
            for build in part.builds + (part.builds_whole if is_whole(part.name, options) else ()):
                preset, *its_targets = build.split()
                targets.setdefault(preset, set()).update(its_targets)
        self._pool = ThreadPoolExecutor(1)
        self._running = None
        self._builds = {preset: self._pool.submit(self._build, preset, sorted(its_targets), number > 0)
                        for number, (preset, its_targets) in enumerate(targets.items())}
        self.lines = []

    def _build(self, preset: str, targets: list, is_beside: bool):
        command = [ROOT / "scripts" / "build", preset, *targets]
        began = time.monotonic()
        if is_beside:  # in a group of its own, so that all of it can be ended
            self._running = subprocess.Popen(["nice", "-n", "19", *command], process_group=0, stdin=subprocess.DEVNULL,
                                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        else:
            self._running = subprocess.Popen(command)
        said, _ = self._running.communicate()
        return self._running.returncode, said or "", time.monotonic() - began, is_beside

    def stop(self) -> None:
        """Nothing is built for nobody."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        if self._running and self._running.poll() is None:
            if os.getpgid(self._running.pid) == self._running.pid:
                os.killpg(self._running.pid, signal.SIGTERM)
            else:
                self._running.terminate()

    def wait_for(self, presets) -> bool:
        """Whether they are there."""
        for preset in [preset for preset in presets if preset in self._builds]:
            status, said, took, is_beside = self._builds.pop(preset).result()
            print(said, end="", flush=True)
            if status != 0:
                return False
            self.lines.append(f"{'build ' + preset:14} ({took:.1f} s{', beside the tests' if is_beside else ''})")
        return True

    def first(self) -> list:
        return list(self._builds)[:1]


def run_parts(chosen: list, builds: Builds, options: argparse.Namespace) -> Count:
    total = Count()
    lines = []
    is_built = builds.wait_for(builds.first())
    for _, lane in itertools.groupby(chosen, key=lambda part: part.lane or part.name):
        lane = list(lane)
        is_built = is_built and builds.wait_for({build.split()[0] for part in lane for build in part.builds})
        if not is_built:
            total.failed += 1
            break
        for part, count, took in run_lane(lane, options):
            lines.append(f"{part.name:14} {count}  ({took:.1f} s)")
            print(f"== {lines[-1]}\n", flush=True)
            total += count
    if len(builds.lines + lines) > 1:
        print("\n".join(builds.lines + lines))
    return total


def main() -> int:
    options = parse_arguments()
    chosen = [part for part in PARTS if not options.parts or part.name in options.parts]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    builds = Builds(chosen, options)
    try:
        total = run_parts(chosen, builds, options)
    finally:
        builds.stop()
    print(total)
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main())

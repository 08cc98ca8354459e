"""What the benchmarks share that compare with nginx: CPU time by process, and a funnel that counts all and refuses none."""
import time
from pathlib import Path

# Every limit counts, as in a sale, and none refuses: the whole crowd comes from one address.
FUNNEL = {"DOORBUSTER_LIMITS__ADDRESS_PER_SECOND": "1000000", "DOORBUSTER_LIMITS__ADDRESS_BURST": "1000000",
          "DOORBUSTER_LIMITS__BUYER_PER_MINUTE": "10", "DOORBUSTER_LIMITS__GLOBAL_PER_SECOND": "100000000",
          "DOORBUSTER_LIMITS__GLOBAL_BURST": "100000000", "DOORBUSTER_OVERLOAD__DETECT": "true"}


def cpu_clock(pid: int) -> int:
    """The kernel's clock of a process' user and system time, to the nanosecond; /proc/PID/stat has ticks of ten milliseconds."""
    return (~pid << 3) | 2


def cpu_of(pid: int) -> float:
    """CPU seconds so far of the whole process, ended threads included."""
    return time.clock_gettime(cpu_clock(pid))


def cpu_by_thread(pid: int) -> dict:
    """CPU seconds so far, by the threads' names."""
    spent = {}
    for task in Path(f"/proc/{pid}/task").iterdir():
        name = (task / "comm").read_text().strip()
        spent[name] = spent.get(name, 0) + int((task / "schedstat").read_text().split()[0]) / 1e9
    return spent

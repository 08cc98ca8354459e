"""What the benchmarks share that compare with nginx: CPU time by process, and a funnel that counts all and refuses none."""
import os
from pathlib import Path

TICKS_PER_S = os.sysconf("SC_CLK_TCK")

# Every limit counts, as in a sale, and none refuses: the whole crowd comes from one address.
FUNNEL = {"DOORBUSTER_LIMITS__ADDRESS_PER_SECOND": "1000000", "DOORBUSTER_LIMITS__ADDRESS_BURST": "1000000",
          "DOORBUSTER_LIMITS__BUYER_PER_MINUTE": "10", "DOORBUSTER_LIMITS__GLOBAL_PER_SECOND": "100000000",
          "DOORBUSTER_LIMITS__GLOBAL_BURST": "100000000", "DOORBUSTER_OVERLOAD__DETECT": "true"}


def cpu_by_thread(pid: int) -> dict:
    """CPU seconds so far, by the threads' names."""
    spent = {}
    for task in Path(f"/proc/{pid}/task").iterdir():
        text = (task / "stat").read_text()
        name, fields = text[text.index("(") + 1:text.rindex(")")], text[text.rindex(")") + 2:].split()
        spent[name] = spent.get(name, 0) + (int(fields[11]) + int(fields[12])) / TICKS_PER_S
    return spent


def cpu_of(pid: int) -> float:
    """CPU seconds so far of the whole process, ended threads included."""
    text = Path(f"/proc/{pid}/stat").read_text()
    fields = text[text.rindex(")") + 2:].split()
    return (int(fields[11]) + int(fields[12])) / TICKS_PER_S

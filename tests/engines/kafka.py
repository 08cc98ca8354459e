"""A lone Kafka broker (tests/lib/kafka-broker) on loopback ports."""
import os
import subprocess
from pathlib import Path

from engines import kafka_wire
from engines.engine import Engine

ROOT = Path(__file__).resolve().parents[2]


def is_missing() -> str:
    """Why there is no broker here; empty where there is one. Fetches it if it has to."""
    done = subprocess.run([ROOT / "scripts" / "kafka"], stdout=subprocess.DEVNULL)
    return "" if done.returncode == 0 else "scripts/kafka could not fetch a broker: see what it said above"


def may_be_skipped() -> bool:
    """Where every change is judged, nothing is left out."""
    return os.environ.get("CI") != "true"


class Kafka(Engine):
    """Every message is flushed: it is alone. Its ports are those of its first start."""

    name = "Kafka"

    def __init__(self, folder: Path, port: int, controller_port: int):
        super().__init__(folder)
        self.port, self.controller_port = port, controller_port

    def words(self) -> list:
        return [ROOT / "tests" / "lib" / "kafka-broker", self.folder, self.port, self.controller_port]

    @property
    def brokers(self) -> str:
        return f"127.0.0.1:{self.port}"

    def answers(self) -> bool:
        """It leads every partition that it has: one that just came back does so a moment later."""
        try:
            return kafka_wire.leads_all(self.port)
        except (OSError, kafka_wire.Garbled):
            return False

    def ends(self, topic: str, partitions: int) -> list:
        """Of each partition, the offset behind its last record."""
        return kafka_wire.ends(self.port, topic, partitions)

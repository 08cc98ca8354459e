"""A whole cluster on one machine: the engines, two gates and two workers with a sweeper each, and nginx in front.

Started from the bottom up and ended from the top down, so that who is left can still finish what was promised.
"""
import secrets
from dataclasses import dataclass, field
from pathlib import Path

from engines.kafka import Kafka
from engines.nginx import Nginx, deployed
from engines.node import Node
from engines.postgres import Postgres
from engines.redis import Redis
from lib.ports import free_port

TOPIC = "doorbuster-ledger"
PARTITIONS = 4
GATES = WORKERS = 2


@dataclass
class Ports:
    """Free ones, unless they are named."""
    redis: int = field(default_factory=free_port)
    postgres: int = field(default_factory=free_port)
    kafka: int = field(default_factory=free_port)
    kafka_controller: int = field(default_factory=free_port)
    nginx: int = field(default_factory=free_port)
    gates: list = field(default_factory=lambda: [free_port() for _ in range(GATES)])
    admin: int = 0  # of the first gate


class Engines:
    """What the servers stand on."""

    def __init__(self, folder: Path, ports: Ports, postgres_settings: dict = None):
        self.folder = Path(folder)
        self.redis = Redis(self.folder / "redis", ports.redis)
        self.postgres = Postgres(self.folder / "postgres", ports.postgres, postgres_settings)
        self.kafka = Kafka(self.folder / "kafka", ports.kafka, ports.kafka_controller)

    def start(self) -> "Engines":
        for engine in self.all():
            engine.spawn()
        for engine in self.all():
            engine.wait_ready()
        return self

    def all(self) -> list:
        return [self.kafka, self.postgres, self.redis]

    def settings(self, database: str = "doorbuster", topic: str = TOPIC) -> dict:
        """What a server has to be told to stand on them."""
        self.postgres.ensure_database(database)
        return {"DOORBUSTER_REDIS__URL": self.redis.url(),
                "DOORBUSTER_REDIS__SETUP_URL": self.redis.url("doorbuster-setup"),
                "DOORBUSTER_KAFKA__BROKERS": self.kafka.brokers,
                "DOORBUSTER_KAFKA__TOPIC": topic,
                "DOORBUSTER_KAFKA__PARTITIONS": str(PARTITIONS),
                "DOORBUSTER_KAFKA__REPLICAS": "1",
                # On one machine, however many cores it has: PostgreSQL has room for so many.
                "DOORBUSTER_POSTGRES__CONNECTIONS": "4", "DOORBUSTER_POSTGRES__OVERFLOW_MAX": "4",
                "DOORBUSTER_POSTGRES__URL": self.postgres.url(database)}

    def stop(self) -> None:
        for engine in self.all():
            engine.stop()


class Cluster:
    def __init__(self, folder: Path, ports: Ports = None, settings: dict = None, engines: Engines = None,
                 admin_key: str = None, hmac_secret: str = None):
        self.folder, self.ports = Path(folder), ports or Ports()
        self.engines = engines or Engines(self.folder, self.ports)
        self.settings = settings or {}
        self.admin_key, self.hmac_secret = admin_key or secrets.token_hex(24), hmac_secret or secrets.token_hex(24)
        self.gates, self.workers = [], []
        self.nginx = Nginx(self.folder / "nginx", deployed(self.ports.gates), self.ports.nginx)

    def start(self) -> "Cluster":
        self.engines.start()
        self.start_nodes(self.engines.settings())
        self.nginx.start()
        return self

    def start_nodes(self, stands_on: dict) -> None:
        settings = {"DOORBUSTER_ADMIN__KEY": self.admin_key, "DOORBUSTER_IDENTITY__HMAC_SECRET": self.hmac_secret,
                    "DOORBUSTER_SERVER__TRUSTED_PROXIES": "127.0.0.1", **stands_on, **self.settings}
        self.workers = [Node(self.folder / f"worker-{number}", "worker,sweeper", settings)
                        for number in range(1, WORKERS + 1)]
        self.gates = [Node(self.folder / f"gate-{number}", "gate", settings, port, self.ports.admin if number == 1 else 0)
                      for number, port in enumerate(self.ports.gates, start=1)]
        for node in self.nodes():
            node.spawn()
        for node in self.nodes():
            node.wait_ready()

    def nodes(self) -> list:
        return [*self.workers, *self.gates]

    @property
    def admin_port(self) -> int:
        """The first gate's."""
        return self.gates[0].admin_port

    @property
    def public_port(self) -> int:
        """Where buyers come in."""
        return self.nginx.port

    def stop(self) -> None:
        self.nginx.stop()
        for node in [*self.gates, *self.workers]:
            node.stop()
        self.engines.stop()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

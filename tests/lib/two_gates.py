"""Two servers of a cluster that look like one: what is asked goes to the one and to the other in turn.

Each has every role, so that two processes are a whole cluster. It stands in for lib.server.Server, and TurnShop for
lib.shop.Shop, where a test should see no difference.
"""
import itertools
import secrets

from engines.cluster import Engines
from lib.checker import Report, check_orders, check_stock
from lib.client import Answer, Client
from lib.cluster_records import ClusterRecords
from lib.server import Server
from lib.shop import Shop, eventually


class TwoGates:
    gates = 2
    numbers = itertools.count(1)

    def __init__(self, folder, engines: Engines, **settings: str):
        self.folder, self.engines = folder, engines
        self.data = folder / "data-1"
        number = next(TwoGates.numbers)
        self.database = f"abuse_{number}"
        stands_on = engines.settings(self.database, f"abuse-{number}")
        self.nodes = [Server(folder, **{"DOORBUSTER_STORE__BACKEND": "cluster",
                                        "DOORBUSTER_SERVER__ROLES": "gate,worker,sweeper",
                                        "DOORBUSTER_STORE__PATH": str(folder / f"data-{node}"), **stands_on, **settings})
                      for node in range(1, TwoGates.gates + 1)]
        self.admin_key, self.hmac_secret = secrets.token_hex(24), secrets.token_hex(24)
        for other in self.nodes[1:]:
            other.settings.pop("DOORBUSTER_SERVER__LISTEN", None)  # a port that somebody was told is the first one's
        for node in self.nodes:
            node.admin_key, node.hmac_secret = self.admin_key, self.hmac_secret
        self._turns = itertools.cycle(self.nodes)

    @property
    def preexec(self):
        return self.nodes[0].preexec

    @preexec.setter
    def preexec(self, value) -> None:
        for node in self.nodes:
            node.preexec = value

    @property
    def public_port(self) -> int:
        """Another one each time that it is asked for."""
        return next(self._turns).public_port

    @property
    def admin_port(self) -> int:
        return self.nodes[0].admin_port

    @property
    def process(self):
        return self.nodes[0].process

    def start(self) -> "TwoGates":
        for node in self.nodes:
            node.spawn()
        for node in self.nodes:
            node.wait_ready()
        return self

    def running(self) -> bool:
        return all(node.running() for node in self.nodes)

    def stop(self) -> int:
        return max(node.stop() for node in self.nodes)

    def said(self) -> str:
        return "".join(node.said() for node in self.nodes)

    def rows(self, query: str) -> list:
        return self.engines.postgres.rows(query, self.database)

    def recount(self) -> None:
        """The records, by a judge that shares no logic with the book."""
        report, records = Report(), ClusterRecords.read(self.engines.postgres, database=self.database)
        check_stock(records, report)
        check_orders(records, report)
        assert dict(report.faults) == {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for node in self.nodes:
            node.__exit__()


class TurnClient(Client):
    """Over one connection to each of the servers: every request goes to the next.

    `rebuilding` decides nothing and is asked again: a server hears of a new epoch a moment after it was opened.
    """

    def __init__(self, ports: list, *arguments, **more):
        super().__init__(ports[0], *arguments, **more)
        self._each = [Client(port, *arguments, **more) for port in ports]
        self._turns = itertools.cycle(self._each)

    def request(self, *arguments, **more) -> Answer:
        client = next(self._turns)

        def decided():
            answer = client.request(*arguments, **more)
            return answer if answer.code != "rebuilding" else None
        return eventually("the books are there", decided)

    def close(self) -> None:
        for client in self._each:
            client.close()


class ReloadClient(Client):
    """The operator's, at the first server; what a server reads of its own configuration is asked of each."""

    def __init__(self, ports: list, *arguments, **more):
        super().__init__(ports[0], *arguments, **more)
        self._others = [Client(port, *arguments, **more) for port in ports[1:]]

    def request(self, method: str, path: str, *arguments, **more) -> Answer:
        if path == "/v1/reload":
            for other in self._others:
                other.request(method, path, *arguments, **more)
        return super().request(method, path, *arguments, **more)

    def close(self) -> None:
        super().close()
        for other in self._others:
            other.close()


class TurnShop(Shop):
    def _client(self, listener, port, bearer, **more) -> Client:
        kind, ports = ((TurnClient, [node.public_port for node in self.server.nodes]) if listener == "public" else
                       (ReloadClient, [node.admin_port for node in self.server.nodes]))
        client = kind(ports, listener, bearer, self.contract, **more)
        self._clients.append(client)
        return client

    def act(self, sale: str, verb: str, **more) -> Answer:
        """What the operator did is known everywhere within a second, and here waited for; so is a warm-up.

        Another server's clock may open the sale at the same moment: then the word is said again, as the answer asks.
        """
        def said():
            answer = self.admin.post(f"/v1/sales/{sale}/{verb}", **more)
            return answer if answer.status != 412 else None
        answer = eventually(f"{verb} is heard", said)
        assert answer.status == 200, (verb, answer.body)
        eventually(f"{sale} is warm", lambda: self.admin.get(f"/v1/sales/{sale}").json["state"] != "warming")
        for node in self.server.nodes:
            gate = Client(node.public_port, "public")

            def knows() -> bool:  # the clock may have taken it further meanwhile
                shown = gate.get(f"/v1/sales/{sale}")
                return shown.status == 200 and shown.json["state"] == self.admin.get(f"/v1/sales/{sale}").json["state"]
            eventually(f"{sale} is the same at every gate", knows)
            gate.close()
        return answer

    def units_are_back(self, sale: str, units_available: int) -> None:
        """The stock row has them first; they are for sale when a relay has brought them to Redis."""
        super().units_are_back(sale, units_available)
        waiting = f"SELECT number FROM releases WHERE sale = '{sale}' AND applied_at_ms IS NULL"
        eventually("every release is in Redis", lambda: not self.server.rows(waiting))

    def strikes_are_known(self) -> None:
        def heard() -> bool:
            told = self.figure("doorbuster_strikes_told_total")
            return self.figure("doorbuster_strikes_heard_total") == told * (TwoGates.gates - 1)
        eventually("what one gate tells the other has heard", heard)

    def figure(self, name: str, **labels: str) -> int:
        """Of all of them together."""
        first, total = self.admin, 0
        for node in self.server.nodes:
            self.admin = Client(node.admin_port, "admin", self.server.admin_key)
            try:
                total += super().figure(name, **labels)
            finally:
                self.admin.close()
                self.admin = first
        return total

"""What can happen to a cluster. A fault strikes, and is mended; in between the buyers go on.

`prepare` comes before the sale is made. `loses_redis` says that takes may be gone with it: those that nobody heard a
yes for.
"""
from engines.cluster import Cluster
from engines.engine import until
from lib.ports import free_port

LOST_MIN = 20  # acceptances that a replica has certainly not seen


class Fault:
    loses_redis = False

    def __init__(self, cluster: Cluster, choice):
        self.cluster, self.choice = cluster, choice

    def prepare(self) -> None:
        pass

    def strike(self, accept) -> None:
        """`accept(n)` returns when n more purchases were accepted."""
        raise NotImplementedError

    def mend(self) -> None:
        """Returns when the part is back."""
        raise NotImplementedError


class Killed(Fault):
    """SIGKILL, and a new start on what is left."""

    def part(self):
        raise NotImplementedError

    def strike(self, accept) -> None:
        self.struck = self.part()
        self.struck.kill()

    def mend(self) -> None:
        self.struck.start()


class GateKilled(Killed):
    def part(self):
        return self.choice.choice(self.cluster.gates)


class WorkerKilled(Killed):
    def part(self):
        return self.choice.choice(self.cluster.workers)


class BrokerKilled(Killed):
    def part(self):
        return self.cluster.engines.kafka


class PostgresKilled(Killed):
    def part(self):
        return self.cluster.engines.postgres


class RedisKilled(Killed):
    loses_redis = True

    def part(self):
        return self.cluster.engines.redis


class RedisEmptied(RedisKilled):
    """It comes back and has never heard of anything."""

    def mend(self) -> None:
        self.struck.forget()
        self.struck.start()


class StaleReplica(Fault):
    """A replica is cut off; the master goes on and acknowledges; then the replica takes its place."""

    loses_redis = True
    replicas = 0

    def prepare(self) -> None:
        StaleReplica.replicas += 1
        self.master = self.cluster.engines.redis
        folder = self.cluster.folder / f"redis-replica-{StaleReplica.replicas}"
        self.replica = self.master.replica(folder, free_port()).start()
        until("the replica is in step", lambda: self.replica.is_in_step_with(self.master))

    def strike(self, accept) -> None:
        until("the replica is in step", lambda: self.replica.is_in_step_with(self.master))
        self.replica.cut_off()
        accept(LOST_MIN)

    def mend(self) -> None:
        self.master.kill()
        self.replica.promote(self.master.port)
        self.replica.master = None
        self.cluster.engines.redis = self.replica


class StaleMaster(StaleReplica):
    """The master itself is put under the stale replica for a moment: the same process, with an older memory."""

    def mend(self) -> None:
        self.replica.promote()
        self.master.follow(self.replica)
        self.master.promote()
        self.replica.stop()


class WorkerFrozen(Fault):
    """SIGSTOP; another takes over what it held; then it wakes and thinks that nothing has happened."""

    def strike(self, accept) -> None:
        self.struck = self.choice.choice(self.cluster.workers)
        held = until("the worker holds partitions", self._held)
        before = self._generations()
        self.struck.freeze()

        def taken_over():
            now = self._generations()
            return all(now[partition][1] > before[partition][1] for partition in held)
        until("another worker took over", taken_over)

    def _held(self) -> list:
        return [partition for partition, (owner, _) in self._generations().items() if self._is_of(owner)]

    def _is_of(self, owner: str) -> bool:
        return owner.endswith(f"process {self.struck.process.pid}")

    def _generations(self) -> dict:
        rows = self.cluster.engines.postgres.rows("SELECT * FROM doorbuster.partition_leases")
        return {row["partition"]: (row["owner"], row["generation"]) for row in rows}

    def mend(self) -> None:
        self.struck.thaw()
        # It is back when it has its share again.
        until("it holds partitions again", self._held)


FAULTS = {"gate killed": GateKilled, "worker killed": WorkerKilled, "broker killed": BrokerKilled,
          "PostgreSQL killed": PostgresKilled, "Redis killed": RedisKilled, "Redis restarted empty": RedisEmptied,
          "Redis replaced by a stale replica": StaleReplica, "Redis put under a stale replica": StaleMaster,
          "worker frozen and woken": WorkerFrozen}

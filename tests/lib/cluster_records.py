"""What a cluster has recorded of one sale, in the words of the judge; and when there is nothing left to record."""
from engines.cluster import PARTITIONS, TOPIC, Cluster
from lib.checker import Records


class ClusterRecords(Records):
    """The ledger is what the inbox has of it: every record that left Kafka, with its take."""

    late: list
    told: set  # purchases whose cancellation the shop was told

    @classmethod
    def read(cls, postgres, sale: str = None, database: str = "doorbuster") -> "ClusterRecords":
        """Of one sale, or of all."""
        of_sale = f" WHERE sale = '{sale}'" if sale else ""

        def of(table: str, columns: str = "*") -> list:
            return postgres.rows(f"SELECT {columns} FROM doorbuster.{table}{of_sale}", database)

        def plain(uuid: str) -> str:
            return uuid.replace("-", "")
        purchases = [{**row, "id": plain(row["id"])} for row in of("purchases")]
        records = cls(
            ledger=[{**row, "purchase": row["id"]} for row in purchases],
            items=of("items"), purchases=purchases,
            orders=[{**row, "purchase": plain(row["purchase"])} for row in of("orders")],
            holdings=of("buyer_holdings"),
            dead_letters=postgres.rows("SELECT partition, position, reason FROM doorbuster.dead_letters", database),
            position=None)
        records.late = [{**row, "purchase": plain(row["purchase"])} for row in of("late_records")]
        records.told = {plain(row["purchase"]) for row in of("events", "kind, purchase")
                        if row["purchase"] and row["kind"].endswith("cancelled")}
        return records


def read_records(cluster: Cluster, sale: str) -> ClusterRecords:
    return ClusterRecords.read(cluster.engines.postgres, sale)


def unhandled(cluster: Cluster) -> int:
    """Records of the ledger that no worker has placed."""
    rows = cluster.engines.postgres.rows("SELECT partition, position FROM doorbuster.partition_offsets")
    placed = {row["partition"]: row["position"] for row in rows}
    ends = cluster.engines.kafka.ends(TOPIC, PARTITIONS)
    return sum(end - placed.get(number, 0) for number, end in enumerate(ends))


def pending_takes(cluster: Cluster, sale: str, items) -> int:
    """Takes that nobody has seen in the ledger."""
    return sum(int(cluster.engines.redis.ask("XLEN", f"{{{sale}/{item}/0}}:outbox")) for item in items)


def is_settled(cluster: Cluster, sale: str, items) -> bool:
    """Nothing is on its way any more, in either direction, and every item is sold from an open epoch."""
    waiting = cluster.engines.postgres.rows(
        f"SELECT (SELECT count(*) FROM doorbuster.releases WHERE sale = '{sale}' AND applied_at_ms IS NULL) AS releases, "
        f"(SELECT count(*) FROM doorbuster.items WHERE sale = '{sale}' AND epoch_state != 'open') AS rebuilding")[0]
    return (waiting == {"releases": 0, "rebuilding": 0} and pending_takes(cluster, sale, items) == 0 and
            unhandled(cluster) == 0)

"""The two questions that are asked of a lone broker, in Kafka's own protocol: who leads, and how far the records go."""
import socket
import struct

ANSWER_S_MAX = 60  # it flushes every message, and other things may keep the disk busy
API_LIST_OFFSETS, API_METADATA = 2, 3
VERSION = 1  # of both
LATEST = -1
NOBODY = -1


class Garbled(Exception):
    """The broker said something else than what was asked for."""


class Reader:
    def __init__(self, data: bytes):
        self.data, self.at = data, 0

    def number(self, form: str) -> int:
        size = struct.calcsize(form)
        if self.at + size > len(self.data):
            raise Garbled("an answer that ends too early")
        value, = struct.unpack_from(form, self.data, self.at)
        self.at += size
        return value

    def int16(self) -> int:
        return self.number(">h")

    def int32(self) -> int:
        return self.number(">i")

    def int64(self) -> int:
        return self.number(">q")

    def text(self) -> str:
        length = self.int16()
        if length < 0:
            return ""
        self.at += length
        return self.data[self.at - length:self.at].decode()

    def each(self, read) -> list:
        return [read() for _ in range(max(0, self.int32()))]


def text(value: str) -> bytes:
    return struct.pack(">h", len(value)) + value.encode()


def call(port: int, api: int, body: bytes) -> Reader:
    request = struct.pack(">hhi", api, VERSION, 1) + text("doorbuster-harness") + body
    with socket.create_connection(("127.0.0.1", port), ANSWER_S_MAX) as connection:
        connection.sendall(struct.pack(">i", len(request)) + request)
        with connection.makefile("rb") as stream:
            head = stream.read(8)
            if len(head) < 8:
                raise Garbled("no answer")
            return Reader(stream.read(struct.unpack(">i", head[:4])[0] - 4))


def leads_all(port: int) -> bool:
    answer = call(port, API_METADATA, struct.pack(">i", -1))  # of every topic

    def broker():
        answer.int32(), answer.text(), answer.int32(), answer.text()
        return True

    def partition() -> int:
        answer.int16(), answer.int32()
        leader = answer.int32()
        answer.each(answer.int32), answer.each(answer.int32)
        return leader

    def topic() -> list:
        answer.int16(), answer.text(), answer.number(">b")
        return answer.each(partition)

    brokers = answer.each(broker)
    answer.int32()  # the controller
    return bool(brokers) and all(leader != NOBODY for leaders in answer.each(topic) for leader in leaders)


def ends(port: int, topic: str, partitions: int) -> list:
    asked = b"".join(struct.pack(">iq", number, LATEST) for number in range(partitions))
    answer = call(port, API_LIST_OFFSETS, struct.pack(">ii", -1, 1) + text(topic) + struct.pack(">i", partitions) + asked)

    def partition() -> tuple:
        number, error = answer.int32(), answer.int16()
        answer.int64()  # a time
        if error:
            raise Garbled(f"partition {number} of {topic}: Kafka's error {error}")
        return number, answer.int64()

    found = dict(answer.each(lambda: (answer.text(), answer.each(partition)))[0][1])
    return [found[number] for number in range(partitions)]

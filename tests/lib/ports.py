"""Ports that nobody listens on."""
import secrets
import socket


def free_port() -> int:
    """For a server whose address somebody else must know before it starts, and after its restart.

    Below the range from which the system gives ports to those who ask for any.
    """
    while True:
        port = 10_000 + secrets.randbelow(20_000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue

"""Ports that nobody listens on."""
import secrets
import socket


_claims = []  # kept for as long as this process runs


def free_port() -> int:
    """For a server whose address somebody else must know before it starts, and after its restart.

    Below the range from which the system gives ports to those who ask for any. It is given once: until its server
    listens nobody could see that it is taken, so a name that only one process can have says so to all of them.
    """
    while True:
        port = 10_000 + secrets.randbelow(20_000)
        claim = socket.socket(socket.AF_UNIX)
        try:
            claim.bind(f"\0doorbuster-test-port-{port}")
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", port))
        except OSError:
            claim.close()
            continue
        _claims.append(claim)
        return port

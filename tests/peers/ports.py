"""Loopback ports for programs that cannot choose one themselves."""

import socket
import ssl
from contextlib import ExitStack
from urllib.error import URLError
from urllib.request import urlopen


def free_ports(count: int) -> list[int]:
    """Ports that are free now. All are held until the last is known, so that they differ."""
    with ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def listens(port: int) -> bool:
    """Whether a program accepts connections there."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def answers(url: str, trust: ssl.SSLContext | None = None) -> bool:
    """Whether a GET is answered with 200."""
    try:
        with urlopen(url, context=trust, timeout=5) as answer:
            return bool(answer.status == 200)
    except (URLError, OSError):
        return False

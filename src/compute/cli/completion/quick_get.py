"""One GET for completion: blocking, small, and without a word when it fails.

The client of the commands imports five times as much, and a person waits for each press of Tab. HTTP/1.0
makes the server close the connection after the answer, so the body needs no framing.
"""

import json
import socket
from collections.abc import Mapping
from threading import Thread
from typing import Final
from urllib.parse import urlsplit

from kubekit.client.connection import Connection, Credentials, tls_context

LIMIT: Final = 0.3  # seconds for everything, looking up the name of the host included
_MOST: Final = 8 * 1024 * 1024  # bytes
_PORTS: Final = {"http": 80, "https": 443}


def get(connection: Connection, path: str, limit: float = LIMIT) -> object:
    """The document at a path below the server; None if there is none in time."""
    answers: list[object] = []

    def ask() -> None:
        try:
            answers.append(_document(_exchange(connection, path, limit)))
        except Exception:  # noqa: BLE001 -- completion never reports an error
            answers.append(None)

    # A thread, since nothing can interrupt the lookup of a host name.
    thread = Thread(target=ask, daemon=True)
    thread.start()
    thread.join(limit)
    return answers[0] if answers else None


def _exchange(connection: Connection, path: str, limit: float) -> bytes:
    if connection.proxy:
        return b""
    credentials = _headers(connection.credentials)
    parts = urlsplit(connection.server)
    host = parts.hostname or ""
    lines = [
        f"GET {parts.path.rstrip('/')}{path} HTTP/1.0",
        f"Host: {parts.netloc}",
        "Accept: application/json",
        *(f"{name}: {value}" for name, value in credentials.items()),
        *(f"{name}: {value}" for name, value in connection.impersonation.headers()),
    ]
    head = "".join(f"{line}\r\n" for line in [*lines, ""]).encode("latin-1")
    with socket.create_connection((host, parts.port or _PORTS[parts.scheme]), limit) as plain:
        if not connection.secure:
            return _answer(plain, head)
        name = connection.server_name or host
        with tls_context(connection).wrap_socket(plain, server_hostname=name) as secure:
            return _answer(secure, head)


def _headers(credentials: Credentials) -> Mapping[str, str]:
    """The headers that authenticate. Only a plugin that has to run needs an event loop."""
    try:
        credentials.headers().__await__().send(None)
    except StopIteration as end:
        headers: Mapping[str, str] = end.value
        return headers
    except RuntimeError:  # there is no event loop
        import asyncio  # noqa: PLC0415 -- costs more than all else here

        async def ask() -> Mapping[str, str]:
            return await credentials.headers()

        return asyncio.run(ask())
    return {}


def _answer(connection: socket.socket, head: bytes) -> bytes:
    connection.sendall(head)
    parts: list[bytes] = []
    while data := connection.recv(65536):
        parts.append(data)
        if sum(map(len, parts)) > _MOST:
            return b""
    return b"".join(parts)


def _document(answer: bytes) -> object:
    head, _, body = answer.partition(b"\r\n\r\n")
    status = head.split(b" ", 2)[1:2]
    return json.loads(body) if status == [b"200"] else None

"""One plane behind one listener, from a folder: the whole of `compute plane` but its words."""

import asyncio
import signal
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from compute.app import memory
from compute.app.environment import system
from compute.app.kubeconfig import kubeconfig
from compute.plane.http.authentication import Tokens, write_private
from compute.plane.http.certificates import LOOPBACK, Certificates
from compute.plane.http.pages import Pages
from compute.plane.http.seams import Seams
from compute.plane.http.server import Server, is_loopback
from compute.plane.plane import Plane
from compute.plane.registry.kinds import Kinds
from compute.plane.users import User

_ADMIN: Final = User("admin", ("system:masters",))
_STOPPING: Final = (signal.SIGINT, signal.SIGTERM)


@dataclass(frozen=True, slots=True)
class Serving:
    """A plane that is being served."""

    plane: Plane
    server: Server

    @property
    def objects(self) -> int:
        """How many objects there are."""
        return sum(len(self.plane.store.collection(s)) for s in self.plane.kinds.stored())


@asynccontextmanager
async def serving(data: Path, kinds: Kinds, address: tuple[str, int]) -> AsyncIterator[Serving]:
    """A plane from a folder, served, with the files that let clients in.

    The plane is opened first: whoever comes second on a folder has changed nothing in it.
    """
    environment = system()
    plane = await Plane.open(data, kinds, environment)
    try:
        tokens = Tokens(data / "tokens.json", environment)
        names = _names(address[0])
        certificates = Certificates(data / "pki", environment.now(), names)
        server = Server(address, certificates, tokens, environment, Seams(site=Pages()))
        server.mount("/", plane)
        await server.start()
        try:
            _let_in(data, server, certificates, _token(data, tokens))
            memory.settle()
            yield Serving(plane, server)
        finally:
            await server.close()
    finally:
        await plane.close()


async def told_to_stop() -> signal.Signals:
    """Wait for Ctrl-C or SIGTERM. A second one ends the process at once."""
    loop = asyncio.get_running_loop()
    told: asyncio.Future[signal.Signals] = loop.create_future()
    for number in _STOPPING:
        loop.add_signal_handler(number, _tell, told, number)
    try:
        return await told
    finally:
        for number in _STOPPING:
            loop.remove_signal_handler(number)


def _tell(told: "asyncio.Future[signal.Signals]", number: signal.Signals) -> None:
    if not told.done():
        told.set_result(number)


def _names(host: str) -> Sequence[str]:
    """What clients may call the server. One on every address is also known by the machine's name."""
    if is_loopback(host):
        return LOOPBACK
    # What is not ASCII no certificate can hold; the listener says what it thinks of it.
    names = filter(str.isascii, (*LOOPBACK, host, socket.gethostname()))
    return tuple(dict.fromkeys(filter(None, names)))


def _token(data: Path, tokens: Tokens) -> str:
    """The token in the folder. Where that is gone, or is not known any more, a new one replaces it."""
    file = data / "token"
    token = file.read_text(errors="replace").strip() if file.exists() else ""
    if not tokens.user_of(f"Bearer {token}"):
        tokens.revoke(_ADMIN.name)
        token = tokens.issue(_ADMIN)
    write_private(file, f"{token}\n".encode())
    return token


def _let_in(data: Path, server: Server, certificates: Certificates, token: str) -> None:
    authority = certificates.authority.read_bytes()
    write_private(data / "kubeconfig", kubeconfig(server.url, authority, token))

"""One plane behind one listener, from a folder: the whole of `compute plane` but its words."""

import asyncio
import logging
import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from compute.api.structural_nodes import Document
from compute.app import memory
from compute.app.environment import system
from compute.app.kubeconfig import kubeconfig
from compute.plane.access.door import Rbac
from compute.plane.http.audit import Audit, AuditFile
from compute.plane.http.authentication import Tokens, write_private
from compute.plane.http.certificates import Certificates
from compute.plane.http.hostnames import names_for
from compute.plane.http.pages import Pages
from compute.plane.http.seams import Seams
from compute.plane.http.server import Server
from compute.plane.identity.webtokens import SigningKey
from compute.plane.plane import Plane
from compute.plane.registry.kinds import Kinds
from compute.plane.store.store import KeysRefused, Store, Unreadable, WritesStopped
from compute.plane.users import User

_ADMIN: Final = User("admin", ("system:masters",))
_log: Final = logging.getLogger(__name__)
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
async def serving(
    data: Path, kinds: Kinds, address: tuple[str, int], definitions: Sequence[Document] = ()
) -> AsyncIterator[Serving]:
    """A plane from a folder, served, with the files that let clients in.

    The plane is opened first: whoever comes second on a folder has changed nothing in it.
    """
    environment = system()
    plane = await Plane.open(data, kinds, environment, definitions=definitions)
    audit: Audit | None = None
    try:
        tokens = Tokens(data / "tokens.json", environment)
        certificates = Certificates(data / "pki", environment.now(), names_for(address[0]))
        signing = SigningKey.at(data / "accounts.key")
        audit = Audit(AuditFile(data / "audit.log"), asyncio.get_running_loop())
        seams = Seams(site=Pages(audit, signing), access=Rbac(), signing=signing, audit=audit)
        server = Server(address, certificates, tokens, environment, seams)
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
        if audit is not None:  # the last: it has a line for all that was stored
            await audit.close()


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


@asynccontextmanager
async def resealing_when_told(store: Store) -> AsyncIterator[None]:
    """Take up a new key at each SIGUSR1. One that cannot be had changes nothing."""
    loop, told = asyncio.get_running_loop(), asyncio.Event()
    loop.add_signal_handler(signal.SIGUSR1, told.set)
    task = loop.create_task(_reseal(store, told))
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGUSR1)
        task.cancel()


async def _reseal(store: Store, told: asyncio.Event) -> None:
    while await told.wait():
        told.clear()
        try:
            await store.reseal()
        except (KeysRefused, Unreadable, WritesStopped) as refusal:
            _log.warning("not sealed with another key", extra={"why": str(refusal)})


def _tell(told: "asyncio.Future[signal.Signals]", number: signal.Signals) -> None:
    if not told.done():
        told.set_result(number)


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

"""Letting people and other programs into a world: every plane in its place, and one kubeconfig."""

from pathlib import Path
from typing import Final

from compute.app.kubeconfig import Credential, PlaneContext, current_context, kubeconfig_of_many
from compute.app.planes import CORE, PROJECT_USERS, OpenPlanes, PlaneRef, folder
from kubekit.plane import Plane, PlaneServer, write_private

_ORDER: Final = ("core", "hub", "project", "cell")
_ADMINISTRATOR: Final = "administrator"
_TOKEN: Final = "token"  # noqa: S105 - the name of a file
_NOTICE: Final = b"""\
# Written by `compute up` at each start, and whenever a project comes or goes.
# The user "administrator" may do everything in every plane: keep this file to yourself.
# A user "project-NAME" may do what the role compute-admin allows, in that project alone.
# Everyone else needs a file of their own: compute plane-users add NAME --project PROJECT --data DIR
# prints one, where DIR is the folder of this file.
"""


class WorldKubeconfig:
    """Serves the planes of a world while they are open, and keeps the kubeconfig in step.

    Each project has a user of its own, whose token is in the folder of the project's plane. It ends
    with the project: another of the same name has another.

    Which context is the current one is its user's choice, for as long as there is such a context.
    Before there is a project, the core stands in for one.
    """

    def __init__(self, data: Path, server: PlaneServer, planes: OpenPlanes) -> None:
        self.kubeconfig = data / "kubeconfig"
        self._data = data
        self._server = server
        self._planes = planes
        self._tokens: dict[str, str] = {}  # of projects, by context
        self._listens = False
        self._stands_in = False

    def opened(self, ref: PlaneRef, plane: Plane) -> None:
        self._server.mount(ref.prefix, plane)
        if ref.user is not None:
            file = folder(self._data, ref) / _TOKEN
            self._tokens[ref.context] = self._server.admit(ref.user, file)
        self._write()

    def closing(self, ref: PlaneRef, plane: Plane) -> None:
        self._server.unmount(ref.prefix)
        self._tokens.pop(ref.context, None)
        if ref.user is not None and self._listens:  # else it comes back at the next start
            self._server.tokens.revoke(ref.user.name)
        self._write(without=ref)

    def begin(self) -> None:
        """The server listens, and its address is known from here on."""
        self._listens = True
        users = {ref.user.name for ref in self._planes if ref.user is not None}
        for name in self._server.tokens.names() - users:
            if name.startswith(PROJECT_USERS):  # its project went while there was no server
                self._server.tokens.revoke(name)
        self._write()

    def end(self) -> None:
        """The planes close from here on, to come back: the kubeconfig is for then, too."""
        self._listens = False

    @property
    def contexts(self) -> list[str]:
        """The names of the contexts."""
        return list(self._contexts(None))

    def _write(self, without: PlaneRef | None = None) -> None:
        contexts = self._contexts(without)
        if self._listens and contexts:
            server, current = self._server, current_context(self.kubeconfig)
            if current not in contexts or (self._stands_in and current == CORE.context):
                current = _first(contexts)
                self._stands_in = current == CORE.context
            users: dict[str, Credential] = {_ADMINISTRATOR: server.token, **self._tokens}
            content = kubeconfig_of_many(server.url, contexts, current, server.authority, users)
            write_private(self.kubeconfig, _NOTICE + content)

    def _contexts(self, without: PlaneRef | None) -> dict[str, PlaneContext]:
        """The contexts by name. A project has two: its own user's, and the administrator's."""
        planes = [ref for ref in self._planes if ref != without]
        planes.sort(key=lambda ref: (_ORDER.index(ref.role), ref.name))
        own = {ref.context: _context(ref, ref.context) for ref in planes}
        return own | {ref.admin_context: _context(ref, _ADMINISTRATOR) for ref in planes}


def _context(ref: PlaneRef, user: str) -> PlaneContext:
    return PlaneContext(ref.prefix, ref.context, user)


def _first(contexts: dict[str, PlaneContext]) -> str:
    """A project, since that is where people work; else the core."""
    projects = (name for name in contexts if name.startswith("project-"))
    return next(projects, CORE.context)

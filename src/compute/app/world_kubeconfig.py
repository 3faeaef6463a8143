"""Mounts the planes of a world on its server, and writes one kubeconfig for all of them."""

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
# Everyone else needs a file of their own: compute plane users add NAME --project PROJECT --data DIR
# prints one, where DIR is the folder of this file.
"""


class WorldKubeconfig:
    """Serves the planes of a world while they are open, and updates the kubeconfig.

    Each project has a user of its own. Its token is in the folder of the project's plane and is
    revoked with the project: a new project of the same name has another token.

    The user may choose the current context: the choice stays for as long as the context exists.
    Before there is a project, the current context is the core.
    """

    def __init__(self, data: Path, server: PlaneServer, planes: OpenPlanes) -> None:
        self.file = data / "kubeconfig"
        self._data = data
        self._server = server
        self._planes = planes
        self._tokens: dict[str, str] = {}  # of projects, by context
        self._listens = False
        self._is_fallback = False

    def opened(self, ref: PlaneRef, plane: Plane) -> None:
        self._server.mount(ref.prefix, plane)
        if ref.user is not None:
            file = folder(self._data, ref) / _TOKEN
            self._tokens[ref.context] = self._server.ensure_token(ref.user, file)
        self._write()

    def closing(self, ref: PlaneRef, plane: Plane) -> None:
        self._server.unmount(ref.prefix)
        self._tokens.pop(ref.context, None)
        if ref.user is not None and self._listens:  # else it opens again at the next start
            self._server.tokens.revoke(ref.user.name)
        self._write(without=ref)

    def start(self) -> None:
        """Write the file: the server listens, so its address is known."""
        self._listens = True
        users = {ref.user.name for ref in self._planes if ref.user is not None}
        for name in self._server.tokens.names() - users:
            if name.startswith(PROJECT_USERS):  # its project was deleted before the server listened
                self._server.tokens.revoke(name)
        self._write()

    def stop(self) -> None:
        """Keep the file as it is: the planes close now, and open again at the next start."""
        self._listens = False

    @property
    def contexts(self) -> list[str]:
        """The names of the contexts."""
        return list(self._contexts(None))

    def _write(self, without: PlaneRef | None = None) -> None:
        contexts = self._contexts(without)
        if self._listens and contexts:
            server, current = self._server, current_context(self.file)
            if current not in contexts or (self._is_fallback and current == CORE.context):
                current = _first(contexts)
                self._is_fallback = current == CORE.context
            users: dict[str, Credential] = {_ADMINISTRATOR: server.token, **self._tokens}
            content = kubeconfig_of_many(server.url, contexts, current, server.authority, users)
            write_private(self.file, _NOTICE + content)

    def _contexts(self, without: PlaneRef | None) -> dict[str, PlaneContext]:
        """The contexts by name. A project has two: its own user's, and the administrator's."""
        refs = [ref for ref in self._planes if ref != without]
        refs.sort(key=lambda ref: (_ORDER.index(ref.role), ref.name))
        own = {ref.context: _context(ref, ref.context) for ref in refs}
        return own | {ref.admin_context: _context(ref, _ADMINISTRATOR) for ref in refs}


def _context(ref: PlaneRef, user: str) -> PlaneContext:
    return PlaneContext(ref.prefix, ref.context, user)


def _first(contexts: dict[str, PlaneContext]) -> str:
    """A project, because users work there; else the core."""
    projects = (name for name in contexts if name.startswith("project-"))
    return next(projects, CORE.context)

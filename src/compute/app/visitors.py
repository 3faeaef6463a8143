"""Letting people and other programs into a world: every plane in its place, and one kubeconfig."""

from pathlib import Path
from typing import Final

from compute.app.front import Front
from compute.app.homes import CORE, Home, Homes
from compute.app.kubeconfig import current_context, kubeconfig_of_many
from compute.plane.http.authentication import write_private
from compute.plane.plane import Plane

_ORDER: Final = ("core", "hub", "project", "cell")


class Visitors:
    """Serves the planes of a world while they are open, and keeps the kubeconfig in step.

    Which context is the current one is its user's choice, for as long as there is such a context.
    Before there is a project, the core stands in for one.
    """

    def __init__(self, data: Path, front: Front, homes: Homes) -> None:
        self.kubeconfig = data / "kubeconfig"
        self._front = front
        self._homes = homes
        self._listens = False
        self._stands_in = False

    def opened(self, home: Home, plane: Plane) -> None:
        self._front.server.mount(home.prefix, plane)
        self._write()

    def closing(self, home: Home, plane: Plane) -> None:
        self._front.server.unmount(home.prefix)
        self._write(without=home)

    def begin(self) -> None:
        """The server listens, and its address is known from here on."""
        self._listens = True
        self._write()

    def end(self) -> None:
        """The planes close from here on, to come back: the kubeconfig is for then, too."""
        self._listens = False

    @property
    def contexts(self) -> dict[str, str]:
        """The contexts by name, each with the path of its plane."""
        return self._contexts(None)

    def _write(self, without: Home | None = None) -> None:
        contexts = self._contexts(without)
        if self._listens and contexts:
            front, current = self._front, current_context(self.kubeconfig)
            if current not in contexts or (self._stands_in and current == CORE.context):
                current = _first(contexts)
                self._stands_in = current == CORE.context
            content = kubeconfig_of_many(
                front.server.url, contexts, current, front.authority, front.token
            )
            write_private(self.kubeconfig, content)

    def _contexts(self, without: Home | None) -> dict[str, str]:
        homes = [home for home in self._homes if home != without]
        homes.sort(key=lambda home: (_ORDER.index(home.role), home.name))
        return {home.context: home.prefix for home in homes}


def _first(contexts: dict[str, str]) -> str:
    """A project, since that is where people work; else the core."""
    projects = (name for name in contexts if name.startswith("project-"))
    return next(projects, CORE.context)

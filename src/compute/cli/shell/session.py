"""The project that a command works in: its client, its namespace, and the time.

    @command(target=True)
    def command(name: str) -> int:
        return in_project(lambda session: _show(session, name))

Errors of the server become failures of the command: a cause, and the next command to type.
"""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

import msgspec

if TYPE_CHECKING:  # the whole client; see `compute.cli.shell.project_work`
    from datetime import datetime

    from compute.cli.target.chosen import Target
    from kubekit.client.client import Client
    from kubekit.environment import ExecutionEnvironment

T = TypeVar("T")


class Session(msgspec.Struct, frozen=True):
    """A namespace of a project, as a command works in it."""

    target: "Target"
    client: "Client"
    environment: "ExecutionEnvironment"

    @property
    def namespace(self) -> str:
        return self.target.namespace

    @property
    def project(self) -> str:
        return self.target.project

    def now(self) -> "datetime":
        return self.environment.now()


def in_project(body: Callable[[Session], Awaitable[T]]) -> T:
    """The result of a command's work in the target that its flags choose."""
    from compute.cli.shell.project_work import run  # noqa: PLC0415 -- not for help and completion

    return run(lambda *parts: body(Session(*parts)))

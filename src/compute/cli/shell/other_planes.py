"""The other planes of a platform, as far as the kubeconfig of the target leads to them.

A user of a project may read the project alone; an operator has contexts for the hub and the cells, too.
So a plane that cannot be read is no error, but a phrase that says why.
"""

import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final, TypeVar

from compute.cli.shell.session import Session
from compute.cli.target.chosen import Target
from kubekit.api.errors import ApiError, Forbidden, NotFound, Timeout, Unauthorized, Unavailable
from kubekit.client.client import Client
from kubekit.client.connection import Misconfigured
from kubekit.client.http.client import HttpClient
from kubekit.client.http.settings import HttpSettings
from kubekit.client.kubeconfig import contexts, load

T = TypeVar("T")

# It is a detail of an answer, so it must not take long.
_SETTINGS: Final = HttpSettings(
    connections=2, connect_timeout=2.0, request_timeout=5.0, attempts=1, warn=lambda _: None
)
_PROBLEMS: Final[tuple[tuple[type[ApiError], str], ...]] = (
    (Forbidden, "you may not read it"),
    (NotFound, "there is no plane at its address, or it serves other kinds"),
    (Unauthorized, "your credentials are not accepted there"),
    (Timeout, "it does not answer"),
    (Unavailable, "it cannot be reached"),
)


class PlaneProblem(str):
    """Why a plane cannot be read, as a phrase."""

    __slots__ = ()


async def on_plane(
    session: Session, context: str, read: Callable[[Client], Awaitable[T]]
) -> T | PlaneProblem:
    """What a read gives on the plane of a context, or why there is no answer."""
    files = _files(session.target)
    if not files:
        return PlaneProblem("no kubeconfig leads to it")
    try:
        if context not in contexts(files):
            return PlaneProblem(f"your kubeconfig has no context {context}")
        connection = load(session.environment, files, context)
        async with HttpClient(connection, session.environment, _SETTINGS) as client:
            return await read(client)
    except Misconfigured as error:
        return PlaneProblem(str(error))
    except ApiError as error:
        known = (text for kind, text in _PROBLEMS if isinstance(error, kind))
        return PlaneProblem(next(known, error.message))


def _files(target: Target) -> list[Path]:
    if target.kubeconfig is None:
        return []
    if target.world is not None:
        return [target.kubeconfig]
    return [Path(path) for path in target.detail.split(os.pathsep)]

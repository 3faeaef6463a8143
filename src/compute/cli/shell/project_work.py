"""Runs the work of a command in its target: the client, and the failures that errors become.

It imports the whole client. So `compute.cli.shell.session` imports it only when a command really runs:
help and completion import the commands as well, and a person waits for them.
"""

import asyncio
import gc
import logging
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from compute.app.system_environment import system
from compute.cli.exits import Exit, Failure
from compute.cli.shell.commands import target_flags
from compute.cli.shell.errors import failure_of
from compute.cli.target.chosen import Target, TargetRule
from compute.cli.target.project_paths import platform_of
from compute.cli.target.resolution import resolve
from kubekit.api.errors import ApiError, NotFound, Unauthorized, Unavailable
from kubekit.client.client import Client
from kubekit.client.connection import Misconfigured, NoCredentials
from kubekit.client.http.client import HttpClient
from kubekit.client.http.failures import NotSent
from kubekit.client.http.settings import HttpSettings
from kubekit.environment import ExecutionEnvironment

T = TypeVar("T")
Work = Callable[[Target, Client, ExecutionEnvironment], Awaitable[T]]

# A person waits for the answer: fewer attempts than a controller makes, and shorter ones.
_SETTINGS: Final = HttpSettings(
    connections=4, connect_timeout=5.0, request_timeout=30.0, attempts=3, retry_window=5.0,
    warn=lambda _: None,
)  # fmt: skip


def run(work: Work[T]) -> T:
    """The result of a command's work in the target that its flags choose."""
    gc.freeze()
    gc.enable()
    logging.lastResort = None  # what a user has to know is printed, and in the user's words
    environment = system()
    target = resolve(target_flags(), environment)
    try:
        return asyncio.run(_with_client(target, environment, work))
    except ApiError as error:
        raise explained(error, target) from error
    except Misconfigured as error:
        raise Failure(str(error), next_step="compute config view") from error


async def _with_client(target: Target, environment: ExecutionEnvironment, work: Work[T]) -> T:
    async with HttpClient(target.connection, environment, _SETTINGS) as client:
        return await work(target, client, environment)


def explained(error: ApiError, target: Target) -> Failure:
    """The failure of a command whose server refused, or did not answer."""
    if isinstance(error, Unavailable) and target.world is not None:
        return Failure(
            f"the world in {target.world} is not running",
            Exit.UNKNOWN,
            next_step=_with_data("compute up --detach", target),
            reason=error.reason,
        )
    if isinstance(error.__cause__, NotSent):
        return _not_reached(target, error, error.__cause__)
    if isinstance(error, Unauthorized) and not isinstance(error, NoCredentials):
        return _not_accepted(target, error)
    if isinstance(error, NotFound) and not (error.details and error.details.name):
        return _not_served(target, error)
    return failure_of(error, target.project)


def _not_reached(target: Target, error: ApiError, why: NotSent) -> Failure:
    """Nothing was sent, so which request it was does not matter."""
    server = platform_of(target.server)
    cause = why.why.removeprefix(f"no connection to {server}: ")
    return Failure(
        f"the server {server} cannot be reached: {cause}",
        Exit.UNKNOWN,
        next_step="compute doctor",
        reason=error.reason,
    )


def _not_accepted(target: Target, error: Unauthorized) -> Failure:
    """The server's own words name no cause; what helps is where the credentials come from."""
    is_plugin = target.rule is TargetRule.PLUGIN
    return Failure(
        f"the server {platform_of(target.server)} does not accept the credentials of "
        f"{target.credentials_from}; they are wrong, or have expired",
        next_step="datumctl auth login" if is_plugin else "compute config view",
        reason=error.reason,
    )


def _not_served(target: Target, error: NotFound) -> Failure:
    if target.project:
        cause = (
            f"project {target.project} does not exist on this platform, or is still being set up; "
            "if it was created just now, try again in a few seconds"
        )
    else:
        cause = (
            f"the server {target.server} does not serve compute: choose a project with --project, "
            "or another server"
        )
    return Failure(cause, Exit.NOT_FOUND, next_step="compute config view", reason=error.reason)


def _with_data(command: str, target: Target) -> str:
    """A command of the local platform, for the world of the target."""
    from compute.app.data_folder import default_data  # noqa: PLC0415 -- only for an error

    is_default = target.world is None or target.world.resolve() == default_data().resolve()
    return command if is_default else f"{command} --data {target.world}"

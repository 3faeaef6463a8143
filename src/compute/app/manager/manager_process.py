"""A manager process, from its checks to the last released lease."""

import asyncio
import logging
import os
import socket
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final

from compute.api import names
from compute.app.manager import options as manager_options
from compute.app.manager.connections import SINGLE, connections
from compute.app.manager.managed_roles import MANAGEMENT, managed_roles
from compute.app.manager.operator_config import DEFAULT, BadConfig, load
from compute.app.manager.options import BadOption, ManagerOptions
from compute.app.manager.role_builder import ManagedRole, ManagerSetup
from compute.app.manager.servers import Servers
from compute.app.manager.startup_checks import (
    CELL_NAME,
    HUB_NAME,
    PROJECT_NAME,
    UNREACHABLE,
    CheckFailed,
    check,
    check_different,
    cluster_uid,
)
from kubekit.api.errors import ApiError
from kubekit.environment import ExecutionEnvironment
from kubekit.runtime.reporting.health import Health
from kubekit.runtime.scope import cancel_and_wait

_log: Final = logging.getLogger(__name__)
_RETRY: Final = 2.0  # seconds between two attempts to reach the own cluster


def manager_setup(
    options: ManagerOptions,
    environment: ExecutionEnvironment,
    variables: Mapping[str, str] = os.environ,
) -> ManagerSetup:
    """Everything that the options and files say. Raises an error that names the field and the fix."""
    for fault in manager_options.faults(options):
        raise BadOption(fault)
    config = load(options.server_config) if options.server_config else DEFAULT
    links = connections(options, config.discovery, environment, variables)
    cell = config.discovery.cluster_name or SINGLE
    setup = ManagerSetup(options, config, links, environment, _identity(variables), cell)
    for fault in _faults(setup):
        raise BadConfig(f"{options.server_config or 'the configuration'}: {fault}")
    return setup


def _faults(setup: ManagerSetup) -> Iterable[str]:
    """Fields of the configuration that do not fit the options."""
    options, discovery, links = setup.options, setup.config.discovery, setup.connections
    is_one_of_many = discovery.mode != SINGLE or links.hub is not None
    if options.cell and links.quota and is_one_of_many and not discovery.cluster_name:
        yield (
            "discovery.clusterName: a cell with quota labels its claims with the name of its "
            "Cluster on the hub; set it to that name"
        )
    if "projects" in options.stand_ins and discovery.mode != SINGLE:
        yield 'discovery.mode: the stand-in for projects needs "single"; Milo has its own projects'
    if setup.config.webhook_server and not options.management:
        yield "webhookServer: only management serves webhooks; remove it, or enable management"


class ManagerProcess:
    """Runs the roles of one process until `stop`, or until one of them fails."""

    def __init__(self, setup: ManagerSetup) -> None:
        self._setup = setup
        self._stopping = asyncio.Event()

    def stop(self) -> None:
        """Finish the running passes, release the leases, and end."""
        self._stopping.set()

    async def run(self) -> None:
        """Check the planes, serve, and run the roles. Raises `CheckFailed`."""
        checking = asyncio.get_running_loop().create_task(_checked(self._setup))
        if not await self._is_sooner(checking):
            return
        setup, roles = checking.result()
        if setup.options.cell and setup.connections.quota is None:
            _log.warning("quota is off: discovery.quotaKubeconfigPath is not set")
        async with Servers(setup, roles, _health(roles)):
            await self._run(roles)

    async def _is_sooner(self, work: asyncio.Task[Any]) -> bool:
        """Whether work ends before `stop`. Else it is cancelled: a plane may not answer for long."""
        stopping = asyncio.get_running_loop().create_task(self._stopping.wait())
        try:
            await asyncio.wait({work, stopping}, return_when=asyncio.FIRST_COMPLETED)
            return work.done()
        finally:
            await cancel_and_wait(stopping)
            await cancel_and_wait(work)

    async def _run(self, roles: list[ManagedRole]) -> None:
        tasks = [asyncio.ensure_future(role.manager.run()) for role in roles]
        stopping = asyncio.ensure_future(self._stopping.wait())
        try:
            await asyncio.wait({*tasks, stopping}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopping.cancel()
            for role in roles:
                role.manager.stop()
            await asyncio.wait(tasks)
        for task in tasks:
            task.result()


async def _checked(setup: ManagerSetup) -> tuple[ManagerSetup, list[ManagedRole]]:
    """The roles, once their planes are checked, and the setup that they are made of."""
    setup = await _named(setup)
    roles = managed_roles(setup)
    await check_planes(setup, roles)
    return setup, roles


async def check_planes(setup: ManagerSetup, roles: Iterable[ManagedRole]) -> None:
    """Check every plane of the roles, all at once. Raises `CheckFailed`."""
    checks = [each for role in roles for each in role.checks]
    await asyncio.gather(*(check(each, setup.environment) for each in checks))
    hubs = [each for each in checks if each.name == HUB_NAME]
    others = [each for each in checks if each.name in {CELL_NAME, PROJECT_NAME}]
    if setup.connections.hub is not None and hubs and others:
        await check_different(others[0], hubs[0], setup.environment)


async def _named(setup: ManagerSetup) -> ManagerSetup:
    """The setup with a name for the cell that no other cell has.

    Copies on the hub bear the name of their cell. Two cells of one name would delete each other's.
    """
    options, links = setup.options, setup.connections
    if not options.cell or links.hub is None or setup.config.discovery.cluster_name:
        return setup
    uid = await _uid(setup)
    _log.warning("discovery.clusterName is not set: the cell is named after the uid of its cluster")
    return replace(setup, cell=names.unnamed_cell(uid))


async def _uid(setup: ManagerSetup) -> str:
    """The uid of the own cluster, as soon as it answers."""
    own = setup.connections.own
    while True:
        try:
            return await cluster_uid(own, setup.environment)
        except UNREACHABLE as error:
            about = {"server": own.server, "error": str(error) or repr(error)}
            _log.warning("the cell's own cluster does not answer", extra=about)
        except ApiError as error:
            raise CheckFailed(
                f"the cell at {own.server} does not tell its identity: {error.message}; set "
                "discovery.clusterName to the name of its Cluster on the hub"
            ) from error
        await asyncio.sleep(_RETRY)


def _health(roles: Iterable[ManagedRole]) -> Health:
    """The checks of all roles, as those of the process."""
    health = Health()
    for role in roles:
        health.live(role.name, partial(_problems, role, "livez"))
        health.ready(role.name, partial(_problems, role, "readyz"))
        for name, each in role.readiness.items():
            health.ready(name if role.name == MANAGEMENT else f"{role.name}-{name}", each)
    return health


def _problems(role: ManagedRole, page: str) -> list[str]:
    report = role.manager.health.report(page)
    assert report is not None
    return [problem for finding in report.findings for problem in finding.problems]


def _identity(variables: Mapping[str, str]) -> str:
    """The name of this process: that of its pod, or of its machine."""
    return variables.get("POD_NAME") or socket.gethostname()

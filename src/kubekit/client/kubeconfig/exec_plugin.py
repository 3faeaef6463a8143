"""Credentials from a plugin: a program that the kubeconfig names, run when they are needed.

Credentials are kept until shortly before they expire, or until a server answers 401. All connections
with the same settings share them. One run serves all callers that wait, and is stopped when the last
of them stops waiting.
"""

import asyncio
import logging
import os
from asyncio import Task
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, Literal
from weakref import WeakValueDictionary

from kubekit.api.excerpt import excerpt
from kubekit.client.connection import ClientCertificate, NoCredentials
from kubekit.client.kubeconfig import exec_process
from kubekit.client.kubeconfig.cluster_info import ClusterInfo
from kubekit.client.kubeconfig.exec_credential import (
    InvalidOutput,
    PluginCredentials,
    exec_info,
    issued,
)
from kubekit.environment import ExecutionEnvironment

Interaction = Literal["Never", "IfAvailable", "Always"]

TIME_LIMIT: Final = 60.0  # seconds
_EARLY: Final = timedelta(minutes=1)
_EARLY_SHARE: Final = 10  # credentials with a short life are renewed in its last tenth
_SETTLED: Final = 10.0  # seconds; younger credentials are not renewed after a 401
_TRY_AGAIN: Final = timedelta(seconds=10)
_STANDARD_INPUT: Final = 0
_EXEC_INFO: Final = "KUBERNETES_EXEC_INFO"
_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecSettings:
    """The program and how to run it. Its arguments and variables may hold secrets."""

    command: str
    api_version: str
    arguments: tuple[str, ...] = field(default=(), repr=False)
    variables: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    interaction: Interaction = "IfAvailable"
    cluster: ClusterInfo | None = field(default=None, repr=False, hash=False)
    limit: float = TIME_LIMIT
    install_hint: str = field(default="", repr=False, compare=False)
    named_by: str = field(default="", compare=False)  # the file and field, for messages


@dataclass(frozen=True, slots=True)
class _Current:
    """The current credentials, their start, and the time of their renewal."""

    issued: PluginCredentials
    since: float  # of the loop
    until: datetime | None


class ExecPlugin:
    """The credentials of one plugin. ``terminal`` is the descriptor of an interactive input."""

    def __init__(
        self,
        settings: ExecSettings,
        environment: ExecutionEnvironment,
        variables: Mapping[str, str] = os.environ,
        terminal: int = _STANDARD_INPUT,
    ) -> None:
        self._settings = settings
        self._environment = environment
        self._variables = variables
        self._terminal = terminal
        self._current: _Current | None = None
        self._running: Task[PluginCredentials] | None = None
        self._waiting = 0

    def __repr__(self) -> str:
        return f"ExecPlugin({self._settings.command!r})"

    async def headers(self) -> Mapping[str, str]:
        credentials = self._fresh() or await self._shared_run()
        return {"Authorization": f"Bearer {credentials.token}"} if credentials.token else {}

    def certificate(self) -> ClientCertificate | None:
        return self._current.issued.certificate if self._current else None

    async def renew(self) -> bool:
        """Discard credentials, unless they are new: then another caller just renewed them. Always retry."""
        now = asyncio.get_running_loop().time()
        if self._current and now - self._current.since >= _SETTLED:
            self._current = None
        return True

    def _fresh(self) -> PluginCredentials | None:
        current = self._current
        if current is None or (current.until and self._environment.now() >= current.until):
            return None
        return current.issued

    async def _shared_run(self) -> PluginCredentials:
        loop = asyncio.get_running_loop()
        if self._running is None or self._running.get_loop() is not loop:
            self._running = loop.create_task(self._run(), name=f"plugin {self._settings.command}")
            self._waiting = 0
        running = self._running
        self._waiting += 1
        try:
            return await asyncio.shield(running)
        finally:
            self._stop_waiting(running)

    def _stop_waiting(self, running: Task[PluginCredentials]) -> None:
        if self._running is not running:
            return
        self._waiting -= 1
        if running.done() or not self._waiting:
            self._running = None
            if not running.cancelling():  # a second cancellation would interrupt the cleanup
                running.cancel()

    async def _run(self) -> PluginCredentials:
        try:
            output = await exec_process.output(self._prepared())
            credentials = issued(output, self._settings.api_version)
        except (exec_process.PluginFailed, InvalidOutput) as error:
            return self._keep_current(error)
        self._set_current(
            credentials, credentials.ends and _early(credentials.ends, self._environment.now())
        )
        return credentials

    def _prepared(self) -> exec_process.Run:
        settings = self._settings
        interactive = self._is_interactive()
        info = exec_info(settings.api_version, settings.cluster, interactive=interactive)
        return exec_process.Run(
            program=exec_process.located(settings.command, self._variables.get("PATH", "")),
            arguments=settings.arguments,
            variables={**self._variables, **dict(settings.variables), _EXEC_INFO: info},
            limit=settings.limit,
            terminal=self._terminal if interactive else None,
        )

    def _is_interactive(self) -> bool:
        wanted = self._settings.interaction
        available = wanted != "Never" and os.isatty(self._terminal)
        if wanted == "Always" and not available:
            raise exec_process.PluginFailed(
                "it must ask a person, and the standard input is no terminal; run this in one"
            )
        return available

    def _keep_current(self, error: Exception) -> PluginCredentials:
        """The current credentials if they have not expired yet. Otherwise it raises the error."""
        now = self._environment.now()
        current = self._current
        if current and current.issued.ends and now < current.issued.ends:
            _log.warning(
                "keeping the last credentials of a plugin",
                extra={"plugin": self._settings.command, "problem": str(error)},
            )
            self._set_current(current.issued, min(now + _TRY_AGAIN, current.issued.ends))
            return current.issued
        raise NoCredentials(self._message(error)) from error

    def _set_current(self, credentials: PluginCredentials, until: datetime | None) -> None:
        self._current = _Current(credentials, asyncio.get_running_loop().time(), until)

    def _message(self, error: Exception) -> str:
        settings = self._settings
        prefix = f"{settings.named_by}: " if settings.named_by else ""
        missing = isinstance(error, exec_process.NotInstalled)
        advice = exec_process.shown(settings.install_hint) if missing else ""
        return f"{prefix}the credential plugin {excerpt(settings.command)}: {error}" + (
            f"; {advice}" if advice else ""
        )


def shared(
    settings: ExecSettings,
    environment: ExecutionEnvironment,
    variables: Mapping[str, str] = os.environ,
) -> ExecPlugin:
    """The plugin with these settings, shared by all callers for as long as one keeps it."""
    key = (settings, environment)
    plugin = _SHARED.get(key)
    if plugin is None:
        plugin = _SHARED[key] = ExecPlugin(settings, environment, variables)
    return plugin


_SHARED: Final[WeakValueDictionary[tuple[ExecSettings, ExecutionEnvironment], ExecPlugin]] = (
    WeakValueDictionary()
)


def _early(ends: datetime, now: datetime) -> datetime:
    """The time of renewal: before the expiry, but not too early for credentials with a short life."""
    return ends - min(_EARLY, (ends - now) / _EARLY_SHARE)

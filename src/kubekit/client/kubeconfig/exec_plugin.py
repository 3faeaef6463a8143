"""Credentials from a plugin: a program that the kubeconfig names, run when they are needed.

What it gave is kept until shortly before its end, or until a server answers 401. All connections
with the same settings share it, and however many callers wait, one run serves them all; it is
stopped when the last of them stops waiting.
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
from kubekit.client.kubeconfig.exec_credential import (
    BadAnswer,
    ClusterInfo,
    PluginCredentials,
    issued,
    question,
)
from kubekit.environment import ExecutionEnvironment

Interaction = Literal["Never", "IfAvailable", "Always"]

TIME_LIMIT: Final = 60.0  # seconds
_EARLY: Final = timedelta(minutes=1)
_EARLY_SHARE: Final = 10  # of a short life, no more than a tenth is given away
_SETTLED: Final = 10.0  # seconds; what is younger is not asked for again because of a 401
_TRY_AGAIN: Final = timedelta(seconds=10)
_STANDARD_INPUT: Final = 0
_QUESTION: Final = "KUBERNETES_EXEC_INFO"
_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecSettings:
    """Which program, and how to ask it. Its arguments and variables may hold secrets."""

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
class _Held:
    """What is in use, since when, and when it is time for something new."""

    issued: PluginCredentials
    since: float  # of the loop
    until: datetime | None


class ExecPlugin:
    """The credentials of one plugin. ``terminal`` is where a person might be."""

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
        self._held: _Held | None = None
        self._flight: Task[PluginCredentials] | None = None
        self._waiting = 0

    def __repr__(self) -> str:
        return f"ExecPlugin({self._settings.command!r})"

    async def headers(self) -> Mapping[str, str]:
        given = self._fresh() or await self._shared_run()
        return {"Authorization": f"Bearer {given.token}"} if given.token else {}

    def certificate(self) -> ClientCertificate | None:
        return self._held.issued.certificate if self._held else None

    async def renew(self) -> bool:
        """Always worth another try. What is new is kept: it may be what the others were given."""
        now = asyncio.get_running_loop().time()
        if self._held and now - self._held.since >= _SETTLED:
            self._held = None
        return True

    def _fresh(self) -> PluginCredentials | None:
        held = self._held
        if held is None or (held.until and self._environment.now() >= held.until):
            return None
        return held.issued

    async def _shared_run(self) -> PluginCredentials:
        loop = asyncio.get_running_loop()
        if self._flight is None or self._flight.get_loop() is not loop:
            self._flight = loop.create_task(self._run(), name=f"plugin {self._settings.command}")
            self._waiting = 0
        flight = self._flight
        self._waiting += 1
        try:
            return await asyncio.shield(flight)
        finally:
            self._leave(flight)

    def _leave(self, flight: Task[PluginCredentials]) -> None:
        if self._flight is not flight:
            return
        self._waiting -= 1
        if flight.done() or not self._waiting:
            self._flight = None
            if not flight.cancelling():  # twice would interrupt the end of the program
                flight.cancel()

    async def _run(self) -> PluginCredentials:
        try:
            answer = await exec_process.output(self._prepared())
            given = issued(answer, self._settings.api_version)
        except (exec_process.PluginFailed, BadAnswer) as error:
            return self._last_resort(error)
        self._hold(given, given.ends and _early(given.ends, self._environment.now()))
        return given

    def _prepared(self) -> exec_process.Run:
        settings = self._settings
        talks = self._talks()
        told = question(settings.api_version, settings.cluster, interactive=talks)
        return exec_process.Run(
            program=exec_process.located(settings.command, self._variables.get("PATH", "")),
            arguments=settings.arguments,
            variables={**self._variables, **dict(settings.variables), _QUESTION: told},
            limit=settings.limit,
            terminal=self._terminal if talks else None,
        )

    def _talks(self) -> bool:
        wanted = self._settings.interaction
        available = wanted != "Never" and os.isatty(self._terminal)
        if wanted == "Always" and not available:
            raise exec_process.PluginFailed(
                "it must ask a person, and the standard input is no terminal; run this in one"
            )
        return available

    def _last_resort(self, error: Exception) -> PluginCredentials:
        """What is held, when it was only to be replaced early. Otherwise the failure."""
        now = self._environment.now()
        held = self._held
        if held and held.issued.ends and now < held.issued.ends:
            _log.warning(
                "keeping the last credentials of a plugin",
                extra={"plugin": self._settings.command, "problem": str(error)},
            )
            self._hold(held.issued, min(now + _TRY_AGAIN, held.issued.ends))
            return held.issued
        raise NoCredentials(self._message(error)) from error

    def _hold(self, given: PluginCredentials, until: datetime | None) -> None:
        self._held = _Held(given, asyncio.get_running_loop().time(), until)

    def _message(self, error: Exception) -> str:
        settings = self._settings
        where = f"{settings.named_by}: " if settings.named_by else ""
        missing = isinstance(error, exec_process.NotInstalled)
        advice = exec_process.shown(settings.install_hint) if missing else ""
        return f"{where}the credential plugin {excerpt(settings.command)}: {error}" + (
            f"; {advice}" if advice else ""
        )


def shared(
    settings: ExecSettings,
    environment: ExecutionEnvironment,
    variables: Mapping[str, str] = os.environ,
) -> ExecPlugin:
    """The plugin with these settings: the same one for all who ask, for as long as one has it."""
    key = (settings, environment)
    plugin = _SHARED.get(key)
    if plugin is None:
        plugin = _SHARED[key] = ExecPlugin(settings, environment, variables)
    return plugin


_SHARED: Final[WeakValueDictionary[tuple[ExecSettings, ExecutionEnvironment], ExecPlugin]] = (
    WeakValueDictionary()
)


def _early(ends: datetime, now: datetime) -> datetime:
    """When to ask again: before the end, but not so early that a short life has no use."""
    return ends - min(_EARLY, (ends - now) / _EARLY_SHARE)

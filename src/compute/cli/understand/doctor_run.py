"""What `compute doctor` does."""

import asyncio
import sys
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from compute.app.data_folder import default_data, is_world
from compute.cli.exits import Exit, Failure
from compute.cli.invocation import typed
from compute.cli.output.formats import show_data
from compute.cli.output.tables import plain
from compute.cli.output.terminal import is_terminal, width
from compute.cli.shell.commands import target_flags
from compute.cli.shell.prompts import notify
from compute.cli.shell.session import Session, in_project
from compute.cli.streams import show
from compute.cli.target.chosen import Target
from compute.cli.understand.checkup import reading
from compute.cli.understand.checkup.local_world import folder_of, options_for, read_world
from compute.cli.understand.checkup.repairs import repair
from compute.cli.understand.checkup.report import report, summary
from compute.decide.doctor import (
    Check,
    CheckStatus,
    Finding,
    Section,
    connection_checks,
    project_checks,
    workload_checks,
    world_checks,
)
from compute.decide.doctor.connection import server_is_silent
from compute.decide.doctor.facts import ProjectFacts, Unread
from compute.decide.overrides.annotated import cities_of
from compute.views.checkup import CheckupView, checkup_view
from compute.views.reading import ProjectObjects

_FAILED: Final = CheckStatus.FAILED
_UNUSABLE: Final = (Check.CITIES, CheckStatus.WARNING)  # a city of the Workload
_CLEAR_LINE: Final = "\r\x1b[2K"


@dataclass(frozen=True, slots=True)
class _Wanted:
    name: str | None
    fix: bool
    assume_yes: bool
    output: str


def run(name: str | None, output: str, *, fix: bool, assume_yes: bool) -> int:
    """Run it. The arguments are those of the command."""
    wanted = _Wanted(name, fix, assume_yes, output)
    try:
        return in_project(lambda session: _checkup(session, wanted))
    except Failure as failure:  # there is no target, or its settings cannot be read
        return asyncio.run(_without_target(failure, wanted))


async def _checkup(session: Session, wanted: _Wanted) -> int:
    findings = await _all_findings(session, wanted)
    if wanted.fix and await repair(session, findings, assume_yes=wanted.assume_yes):
        findings = await _all_findings(session, wanted)
    view = checkup_view(session.target.where, findings)
    _show(view, wanted)
    return _code(findings)


async def _without_target(failure: Failure, wanted: _Wanted) -> int:
    """What can be checked without a server: the platform on this machine, if there is one."""
    findings = [Check.TARGET.failed(str(failure), failure.next_step)]
    data = Path(target_flags().get("data") or default_data())
    if is_world(data):
        findings += world_checks(await read_world(folder_of(data)))
    _show(checkup_view("no target", findings), wanted)
    return failure.code


async def _all_findings(session: Session, wanted: _Wanted) -> list[Finding]:
    progress = _Progress()
    try:
        findings = [finding async for finding in _findings(session, wanted.name, progress)]
    finally:
        progress.end()
    if wanted.name is None:
        return findings
    return [finding for finding in findings if _concerns(finding, wanted.name)]


def _concerns(finding: Finding, name: str) -> bool:
    """Whether a finding is about a Workload, or keeps it from running."""
    is_own = finding.check.section is Section.WORKLOAD and finding.subject == name
    return is_own or finding.status is _FAILED or (finding.check, finding.status) == _UNUSABLE


async def _findings(
    session: Session, name: str | None, progress: "_Progress"
) -> AsyncIterator[Finding]:
    target = session.target
    yield _target(target)
    progress.step("the server")
    start = f"compute up --detach{options_for(target.world)}" if target.world else ""
    server = await reading.read_server(session, start)
    objects: ProjectObjects | None = None
    if server_is_silent(server):
        for finding in connection_checks(server, None):
            yield finding
    else:
        progress.step(target.where)
        project, objects = await reading.read_project(session, name)
        for finding in (*connection_checks(server, project), *project_checks(project)):
            yield finding
        async for finding in _of_workloads(session, name, project, objects):
            progress.step(f"workload {finding.subject}")
            yield finding
    if target.world:
        progress.step("the platform on this machine")
        world = await read_world(folder_of(target.world))
        if name and objects:
            world = world.only({c for w in objects.workloads for c in cities_of(w)})
        for finding in world_checks(world):
            yield finding


async def _of_workloads(
    session: Session, name: str | None, project: ProjectFacts, objects: ProjectObjects
) -> AsyncIterator[Finding]:
    if name and not project.checked and not isinstance(project.workloads, Unread):
        cause = (
            f"there is no workload {name} {session.target.inside}, namespace {session.namespace}"
        )
        yield replace(Check.EXISTS.failed(cause, "compute workloads"), subject=name)
    parts = objects.by_workload()
    for workload in sorted(project.checked, key=lambda w: w.metadata.name):
        own = parts[workload.metadata.uid]
        facts = await reading.read_workload(session, own, session.now())
        for finding in workload_checks(facts):
            yield finding


def _target(target: Target) -> Finding:
    where = f"project {target.project}, " if target.project else ""
    chosen = f"{target.rule.value}: {target.detail}"
    return Check.TARGET.passed(f"{where}namespace {target.namespace}, chosen by {chosen}")


def _show(view: CheckupView, wanted: _Wanted) -> None:
    if wanted.output == "jsonl":
        show_data(list(view.checks), "jsonl")
    elif wanted.output != "table":
        show_data(view, wanted.output)
    else:
        show("\n".join(report(view, width=width(sys.stdout), only=wanted.name is not None)))
        notify(f"\n{summary(view)}")
        if not wanted.fix and any(check.fixable for check in view.checks):
            again = " ".join(filter(None, ("compute doctor", wanted.name, "--fix")))
            notify(f"Some of it can be repaired with: {typed(again)}")


def _code(findings: Iterable[Finding]) -> Exit:
    """The worst result decides: no server, no such Workload, any other failure."""
    failed = {finding.check for finding in findings if finding.status is CheckStatus.FAILED}
    if Check.SERVER in failed:
        return Exit.UNKNOWN
    if failed & {Check.EXISTS, Check.PROJECT}:
        return Exit.NOT_FOUND
    return Exit.ERROR if failed else Exit.OK


class _Progress:
    """What is being checked, on one line of a terminal that is cleared at the end."""

    def __init__(self) -> None:
        self._shows = is_terminal(sys.stderr)
        self._last = ""

    def step(self, what: str) -> None:
        if self._shows and what != self._last:
            self._last = what
            print(f"{_CLEAR_LINE}Checking {plain(what)}...", end="", file=sys.stderr, flush=True)

    def end(self) -> None:
        if self._last:
            print(_CLEAR_LINE, end="", file=sys.stderr, flush=True)

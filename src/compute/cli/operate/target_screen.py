"""The target of commands as a screen of text: what it is, and what each rule would give."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from compute.app.system_environment import system
from compute.cli.exits import Failure
from compute.cli.output import terminal
from compute.cli.output.formats import show_data
from compute.cli.output.tables import plain, table
from compute.cli.shell.commands import target_flags
from compute.cli.streams import show
from compute.cli.target import settings
from compute.cli.target.chosen import Target, TargetRule
from compute.cli.target.project_paths import platform_of
from compute.cli.target.resolution import by_rule, resolve, wishes_of
from compute.views.targets import RuleView, TargetView

_SET_BY: Final = {
    TargetRule.FLAGS: "--server, --context, --kubeconfig or --data",
    TargetRule.PLUGIN: "datumctl compute ...",
    TargetRule.SERVER: "COMPUTE_SERVER, COMPUTE_TOKEN, COMPUTE_CA",
    TargetRule.DATA: "COMPUTE_DATA",
    TargetRule.SETTINGS: "compute config use-context NAME",
    TargetRule.KUBECONFIG: "KUBECONFIG or ~/.kube/config",
    TargetRule.WORLD: "compute up",
}
_INSTEAD: Final[dict[str, str]] = {
    TargetRule.FLAGS: "",  # the cause names what can be given instead
    TargetRule.SETTINGS: "compute config unset context",
    TargetRule.KUBECONFIG: "compute config use-context local",
}
VIEW: Final = "compute config view"
_NONE: Final = "-"


def show_target(output: str) -> None:
    """Print the target; the failure of every other command comes after it."""
    view, failure = _view()
    if output == "table":
        show("\n".join(_lines(view)))
    else:
        show_data(view, output)
    if failure is not None:
        raise Failure(str(failure), failure.code, next_step=_next_step(view, failure))


def _next_step(view: TargetView, failure: Failure) -> str:
    """What to type: commands that fail name this one, which cannot name itself."""
    if failure.next_step != VIEW:
        return failure.next_step
    failed = next((row.rule for row in view.rules if row.problem), "")
    return _INSTEAD.get(failed, VIEW)


def _view() -> tuple[TargetView, Failure | None]:
    """The view, and why commands would fail, if they would."""
    environment, flags = system(), target_flags()
    target: Target | None = None
    failure: Failure | None = None
    rules = by_rule(wishes_of(flags, environment, os.environ))
    try:
        target = resolve(flags, environment)
    except Failure as problem:
        failure = problem
    rows = tuple(_row(rule, given, target) for rule, given in rules)
    file = str(settings.settings_file())
    if target is None:
        return TargetView(settings_file=file, rules=rows), failure
    return (
        TargetView(
            server=target.server,
            project=target.project,
            project_from=target.project_from,
            namespace=target.namespace,
            namespace_from=target.namespace_from,
            context=target.context,
            file=_path(target.kubeconfig),
            rule=target.rule,
            settings_file=file,
            rules=rows,
        ),
        None,
    )


def _row(rule: TargetRule, given: Target | Failure | None, target: Target | None) -> RuleView:
    match given:
        case Target():
            return RuleView(
                rule=rule,
                in_effect=target is not None and rule is target.rule,
                server=platform_of(given.server),
                project=given.project,
                context=given.context,
                source=given.detail,
            )
        case Failure():
            return RuleView(rule=rule, problem=str(given))
        case _:
            return RuleView(rule=rule)


def _lines(view: TargetView) -> Iterator[str]:
    if view.server:
        yield from _header(view)
        yield ""
    rows = [
        ("*" if row.in_effect else "", row.rule, *_given(row), _note(row)) for row in view.rules
    ]
    yield table(("", "RULE", "SERVER", "PROJECT", "FROM"), rows, width=terminal.width(sys.stdout))


def _header(view: TargetView) -> Iterator[str]:
    yield f"Server:     {plain(view.server)}"
    yield f"Project:    {_with_source(view.project, view.project_from)}"
    yield f"Namespace:  {_with_source(view.namespace, view.namespace_from)}"
    if view.context:
        yield f"Context:    {plain(view.context)}"
        yield f"File:       {plain(view.file)}"
    yield f"Settings:   {plain(view.settings_file)}"


def _given(row: RuleView) -> tuple[str, str]:
    return row.server or _NONE, row.project or _NONE


def _note(row: RuleView) -> str:
    if row.problem:
        return f"error: {row.problem}"
    if not row.server:
        return f"not set ({_SET_BY[TargetRule(row.rule)]})"
    return f"{row.source}, context {row.context}" if row.context else row.source


def _with_source(value: str, source: str) -> str:
    return plain(f"{value} (from {source})" if value else _NONE)


def _path(file: Path | None) -> str:
    return str(file) if file else ""

"""The results of checks as text: what is wrong first catches the eye, with one command each."""

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from compute.cli.invocation import typed
from compute.cli.output import phrases
from compute.cli.output.tables import plain
from compute.cli.output.terminal import styled
from compute.decide.doctor import Check, CheckStatus, Section
from compute.views.checkup import CheckupView, FindingView

_MARKS: Final = {
    CheckStatus.PASSED: ("ok", "green"),
    CheckStatus.FAILED: ("FAIL", "red"),
    CheckStatus.WARNING: ("warn", "yellow"),
    CheckStatus.SKIPPED: ("skip", "dim"),
}
_MARK: Final = 6  # columns
_NAME: Final = max(len(check.value) for check in Check) + 2
_LEAST: Final = 30  # columns of text, however narrow the terminal is


def report(view: CheckupView, *, width: int, only: bool) -> list[str]:
    """The lines of a report; ``width`` 0 means that lines are not cut.

    All checks of a Workload are shown where it alone is checked (``only``). Otherwise what it passed
    is one line.
    """
    lines: list[str] = []
    for section in Section:
        checks = view.of(section)
        if section is not Section.WORKLOAD:
            lines += _block(section.value, checks, width)
            continue
        for name in dict.fromkeys(check.workload for check in checks):
            own = [check for check in checks if check.workload == name]
            lines += _workload(name, own, width, only=only)
    return lines[:-1]


def summary(view: CheckupView) -> str:
    """How many checks there are of each outcome."""
    total = phrases.counted(len(view.checks), "check")
    counts = (
        (view.failed, "failed"), (view.warnings, "with a warning"), (view.skipped, "skipped"),
        (view.passed, "passed"),
    )  # fmt: skip
    return f"{total}: {', '.join(f'{number} {word}' for number, word in counts if number)}"


def _workload(name: str, checks: Sequence[FindingView], width: int, *, only: bool) -> Iterator[str]:
    shown = [check for check in checks if only or check.status is not CheckStatus.PASSED]
    passed = len(checks) - len(shown)
    title = f"{Section.WORKLOAD} {plain(name)}" if name else Section.WORKLOAD.value
    if not shown:
        yield f"{styled(title, 'bold')}: {phrases.counted(passed, 'check')} passed"
        yield ""
        return
    yield from _block(title, shown, width)


def _block(title: str, checks: Iterable[FindingView], width: int) -> Iterator[str]:
    rows = [line for check in checks for line in _lines(check, width)]
    if rows:
        yield styled(title, "bold")
        yield from rows
        yield ""


def _lines(check: FindingView, width: int) -> Iterator[str]:
    mark, colour = _MARKS[check.status]
    head = f"{styled(mark.ljust(_MARK), colour)}{check.check.ljust(_NAME)}"
    indent = 2 + _MARK + _NAME
    first, *rest = _wrapped(plain(check.detail), width - indent if width else 0)
    yield f"  {head}{first}"
    yield from (f"{' ' * indent}{line}" for line in rest)
    if check.next and check.status in {CheckStatus.FAILED, CheckStatus.WARNING}:
        yield f"{' ' * indent}Next: {plain(typed(check.next))}"


def _wrapped(text: str, width: int) -> list[str]:
    if not width:
        return [text]
    return textwrap.wrap(text, max(width, _LEAST), break_on_hyphens=False) or [""]

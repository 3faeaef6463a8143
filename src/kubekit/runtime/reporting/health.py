"""Whether a process lives, and whether it is ready to be asked.

Each part names a check and says what is wrong in words for the operator; nothing wrong is an empty
list. A process that does not live is restarted; one that is not ready is only left out for now.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

Check = Callable[[], Sequence[str]]


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What one check found."""

    name: str
    problems: tuple[str, ...] = ()
    excluded: bool = False

    def __str__(self) -> str:
        if self.problems:
            return f"[-]{self.name} failed: {'; '.join(self.problems)}"
        return f"[+]{self.name} {'excluded: ok' if self.excluded else 'ok'}"


@dataclass(frozen=True, slots=True)
class HealthReport:
    """What all checks found, in the form of Kubernetes' own health pages."""

    page: str
    findings: tuple[CheckResult, ...]

    @property
    def well(self) -> bool:
        return not any(finding.problems for finding in self.findings)

    def __str__(self) -> str:
        verdict = f"{self.page} check {'passed' if self.well else 'failed'}"
        return "\n".join([*map(str, self.findings), verdict]) + "\n"


class Health:
    """The checks of one process, by name, in the order of their coming."""

    def __init__(self) -> None:
        self._live: dict[str, Check] = {"ping": list}
        self._ready: dict[str, Check] = {"ping": list}

    def live(self, name: str, check: Check) -> None:
        """Restart the process when this check finds a problem, and stays with it."""
        _add(self._live, name, check)

    def ready(self, name: str, check: Check) -> None:
        """Ask nothing of the process while this check finds a problem."""
        _add(self._ready, name, check)

    def report(
        self, page: str, only: str = "", exclude: Collection[str] = ()
    ) -> HealthReport | None:
        """What a page tells: ``readyz``, or one of ``healthz`` and ``livez``, which are the same.

        ``only`` asks for one check. There is no report of a page or a check that does not exist.
        """
        checks = {"readyz": self._ready, "healthz": self._live, "livez": self._live}.get(page)
        if checks is None or (only and only not in checks):
            return None
        asked: Mapping[str, Check] = {only: checks[only]} if only else checks
        return HealthReport(page, tuple(_found(name, asked[name], exclude) for name in asked))


def _add(checks: dict[str, Check], name: str, check: Check) -> None:
    if name in checks:
        raise ValueError(f"there is a check {name} already")
    checks[name] = check


def _found(name: str, check: Check, exclude: Collection[str]) -> CheckResult:
    if name in exclude:
        return CheckResult(name, excluded=True)
    try:
        return CheckResult(name, tuple(check()))
    except Exception as error:  # noqa: BLE001 - of whatever kind: that is a problem, too
        return CheckResult(name, (f"the check itself failed: {type(error).__name__}: {error}",))

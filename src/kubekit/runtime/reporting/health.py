"""The health checks of a process: whether it is alive, and whether it is ready to serve requests.

Each part registers a named check, which returns problems as text for the operator, or an empty list.
A process that is not alive is restarted; one that is not ready gets no traffic for now.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

Check = Callable[[], Sequence[str]]


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of one check."""

    name: str
    problems: tuple[str, ...] = ()
    excluded: bool = False

    def __str__(self) -> str:
        if self.problems:
            return f"[-]{self.name} failed: {'; '.join(self.problems)}"
        return f"[+]{self.name} {'excluded: ok' if self.excluded else 'ok'}"


@dataclass(frozen=True, slots=True)
class HealthReport:
    """The results of all checks, in the form of Kubernetes' own health pages."""

    page: str
    findings: tuple[CheckResult, ...]

    @property
    def well(self) -> bool:
        return not any(finding.problems for finding in self.findings)

    def __str__(self) -> str:
        verdict = f"{self.page} check {'passed' if self.well else 'failed'}"
        return "\n".join([*map(str, self.findings), verdict]) + "\n"


class Health:
    """The checks of one process, by name, in the order of their registration."""

    def __init__(self) -> None:
        self._live: dict[str, Check] = {"ping": list}
        self._ready: dict[str, Check] = {"ping": list}

    def live(self, name: str, check: Check) -> None:
        """Add a check whose persisting problems require a restart of the process."""
        _add(self._live, name, check)

    def ready(self, name: str, check: Check) -> None:
        """Add a check whose problems mean that the process cannot serve requests now."""
        _add(self._ready, name, check)

    def report(
        self, page: str, only: str = "", exclude: Collection[str] = ()
    ) -> HealthReport | None:
        """The report of a page: ``readyz``, or one of ``healthz`` and ``livez``, which are the same.

        ``only`` selects one check. The report of an unknown page or check is None.
        """
        checks = {"readyz": self._ready, "healthz": self._live, "livez": self._live}.get(page)
        if checks is None or (only and only not in checks):
            return None
        selected: Mapping[str, Check] = {only: checks[only]} if only else checks
        return HealthReport(
            page, tuple(_result(name, selected[name], exclude) for name in selected)
        )


def _add(checks: dict[str, Check], name: str, check: Check) -> None:
    if name in checks:
        raise ValueError(f"there is a check {name} already")
    checks[name] = check


def _result(name: str, check: Check, exclude: Collection[str]) -> CheckResult:
    if name in exclude:
        return CheckResult(name, excluded=True)
    try:
        return CheckResult(name, tuple(check()))
    except Exception as error:  # noqa: BLE001 - whatever it is, that is a problem too
        return CheckResult(name, (f"the check itself failed: {type(error).__name__}: {error}",))

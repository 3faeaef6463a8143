"""What `compute doctor` found, as people read it."""

from collections.abc import Iterable

from compute.decide.doctor import CheckStatus, Finding, Section
from compute.views.view import View


class FindingView(View, frozen=True, kw_only=True):
    """The result of one check. ``fixable`` is True where `compute doctor --fix` repairs it."""

    section: Section
    workload: str  # the Workload that it is about; empty for all else
    check: str
    status: CheckStatus
    detail: str
    next: str  # one command
    fixable: bool


class CheckupView(View, frozen=True, kw_only=True):
    """All results, and how many there are of each kind."""

    where: str
    failed: int
    warnings: int
    skipped: int
    passed: int
    checks: tuple[FindingView, ...]

    def of(self, section: Section) -> tuple[FindingView, ...]:
        return tuple(each for each in self.checks if each.section is section)


def finding_view(finding: Finding) -> FindingView:
    """One result."""
    section = finding.check.section
    return FindingView(
        section=section,
        workload=finding.subject if section is Section.WORKLOAD else "",
        check=finding.check.value,
        status=finding.status,
        detail=" ".join(finding.detail.split()),
        next=finding.cure,
        fixable=finding.fix is not None,
    )


def checkup_view(where: str, findings: Iterable[Finding]) -> CheckupView:
    """The results of all checks, in their order."""
    checks = tuple(map(finding_view, findings))
    return CheckupView(
        where=where,
        failed=_count(checks, CheckStatus.FAILED),
        warnings=_count(checks, CheckStatus.WARNING),
        skipped=_count(checks, CheckStatus.SKIPPED),
        passed=_count(checks, CheckStatus.PASSED),
        checks=checks,
    )


def _count(checks: Iterable[FindingView], status: CheckStatus) -> int:
    return sum(each.status is status for each in checks)

"""Named checks of a process, and what they found."""

import pytest

from kubekit.runtime.reporting.health import Health


def test_a_process_without_checks_is_well():
    """There is always one, which says that it answers."""
    report = Health().report("healthz")
    assert report is not None
    assert report.well
    assert str(report) == "[+]ping ok\nhealthz check passed\n"


def test_a_problem_is_reported_with_its_check():
    """The operator reads what is missing, each of it."""
    health = Health()
    health.ready("clusters", lambda: ["project a: pods are not synced", "project b: away"])
    health.ready("providers", list)
    report = health.report("readyz")
    assert report is not None
    assert not report.well
    assert str(report) == (
        "[+]ping ok\n"
        "[-]clusters failed: project a: pods are not synced; project b: away\n"
        "[+]providers ok\n"
        "readyz check failed\n"
    )


def test_what_is_not_ready_may_live():
    """A plane that is slow to respond is no reason to restart the process."""
    health = Health()
    health.ready("clusters", lambda: ["not synced"])
    assert all(
        report is not None and report.well for report in map(health.report, ["healthz", "livez"])
    )


def test_what_does_not_live_fails_both_pages_of_life():
    """Both are the same under two names."""
    health = Health()
    health.live("lease", lambda: ["the work has not ended"])
    reports = [health.report(page) for page in ("healthz", "livez", "readyz")]
    assert [report is not None and report.well for report in reports] == [False, False, True]


def test_a_check_is_asked_each_time():
    """What was wrong may be well again."""
    problems = ["starting"]
    health = Health()
    health.ready("start", lambda: problems)
    before = health.report("readyz")
    problems.clear()
    after = health.report("readyz")
    assert before is not None
    assert after is not None
    assert (before.well, after.well) == (False, True)


def test_one_check_can_be_asked_for():
    """The others do not matter then."""
    health = Health()
    health.ready("clusters", lambda: ["not synced"])
    report = health.report("readyz", "ping")
    assert report is not None
    assert report.well


def test_a_check_can_be_left_out():
    """It is not asked, and the report says so."""
    health = Health()
    health.ready("clusters", lambda: 1 // 0)  # type: ignore[arg-type, return-value] # not asked
    report = health.report("readyz", exclude=["clusters"])
    assert str(report) == "[+]ping ok\n[+]clusters excluded: ok\nreadyz check passed\n"


def test_a_check_that_fails_itself_is_a_problem():
    """A fault in a check must not look like health."""

    def broken() -> list[str]:
        raise KeyError("x")

    health = Health()
    health.live("broken", broken)
    report = health.report("livez")
    assert report is not None
    assert report.findings[1].problems == ("the check itself failed: KeyError: 'x'",)


@pytest.mark.parametrize(("page", "only"), [("metrics", ""), ("", ""), ("readyz", "unknown")])
def test_there_is_no_report_of_what_does_not_exist(page, only):
    """An absent page is not a healthy one."""
    assert Health().report(page, only) is None


def test_two_checks_of_one_name_are_refused():
    """One would hide the other."""
    health = Health()
    health.ready("clusters", list)
    with pytest.raises(ValueError, match="clusters already"):
        health.ready("clusters", list)

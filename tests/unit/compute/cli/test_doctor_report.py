"""The report of `compute doctor` as text, and what it takes from the log of a platform."""

from dataclasses import replace

from compute.cli.understand.checkup.local_world import errors_of
from compute.cli.understand.checkup.report import report, summary
from compute.decide.doctor import Check
from compute.views.checkup import checkup_view
from tests.support.compute.printed_commands import ROOT, of_cures, problems

PASSED = Check.SERVER.passed("it answers")
SKIPPED = Check.CLOCK.skipped("the server does not give its time")
QUOTA = Check.QUOTA.warning("nearly used up", "compute quota")
BROKEN = replace(
    Check.IMAGES.failed("2 instances: there is no such image at all", "compute status cart"),
    subject="cart",
)
WELL = replace(Check.NAME.passed("it fits"), subject="web")
BOTH = (PASSED, SKIPPED, QUOTA, BROKEN, replace(WELL, subject="cart"), WELL)


def test_what_a_workload_passed_is_one_line():
    view = checkup_view("project shop", BOTH)

    assert report(view, width=0, only=False) == [
        "Connection",
        "  ok    server         it answers",
        "  skip  clock          the server does not give its time",
        "",
        "Project",
        "  warn  quota          nearly used up",
        "                       Next: compute quota",
        "",
        "Workload cart",
        "  FAIL  images         2 instances: there is no such image at all",
        "                       Next: compute status cart",
        "",
        "Workload web: 1 check passed",
    ]
    assert summary(view) == "6 checks: 1 failed, 1 with a warning, 1 skipped, 3 passed"


def test_all_of_one_workload_is_shown():
    assert report(checkup_view("", [WELL]), width=0, only=True) == [
        "Workload web",
        "  ok    name           it fits",
    ]
    assert summary(checkup_view("", [WELL])) == "1 check: 1 passed"


def test_long_causes_continue_below():
    lines = report(checkup_view("", [BROKEN]), width=60, only=True)

    assert lines[1:4] == [
        "  FAIL  images         2 instances: there is no such image",
        "                       at all",
        "                       Next: compute status cart",
    ]
    assert all(len(line) <= 60 for line in lines)


def test_control_characters_do_not_reach_the_terminal():
    evil = replace(Check.IMAGES.failed("a\x1b[2Jb", "compute \x07"), subject="web\x1b[1m")

    assert "\x1b" not in "".join(report(checkup_view("", [evil]), width=0, only=True))


def test_errors_since_the_last_start():
    log = "\n".join(
        (
            "Opening /srv/world",
            'time=T level=error logger=x msg="from an earlier run"',
            "Opening /srv/world",
            "Ready after 0.4 s at https://127.0.0.1:1",
            "time=T level=warning logger=x msg=slow",
            'time=T level=error logger=x msg="a pass failed" error="ValueError: no \\"x\\""',
            "level=critical",
        )
    )

    assert errors_of(log) == ('a pass failed: ValueError: no \\"x\\', "level=critical")
    assert errors_of("time=T level=error msg=cut") == ("cut",)
    assert errors_of("") == ()


def test_every_cure_can_be_typed():
    """The commands that checks name exist, with these arguments."""
    modules = sorted((ROOT / "src/compute/decide/doctor").glob("*.py"))
    cures = [cure for module in modules for cure in of_cures(module)]

    assert len(cures) > 20
    assert problems(cures) == ""

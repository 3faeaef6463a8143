"""The checks of a platform on this machine."""

import pytest

from compute.decide.doctor import Fix, world_checks
from compute.decide.doctor.worlds import (
    cell_checks,
    disk_check,
    leftovers_check,
    log_check,
    port_check,
)
from tests.support.compute.doctor_builders import ABSENT, bad, cell, said, world

MIB = 1024 * 1024


def test_all_is_well():
    assert not bad(world_checks(world()))


def test_a_process_that_is_gone():
    gone = world(pid=0, started=False, left_state=True, answers=False, cells=ABSENT)
    findings = list(world_checks(gone))

    assert bad(findings) == [
        (
            "process", "failed", "no process runs the platform in /srv/world",
            "compute up --detach --data /srv/world",
        ),
        ("leftovers", "warning", "up.json describes a process that is gone", "compute doctor --fix"),
        ("cells", "skipped", "the platform is not running", ""),
    ]  # fmt: skip
    assert [f.fix for f in findings if f.fix] == [Fix.REMOVE_STATE]


def test_a_process_that_is_starting():
    assert bad(world_checks(world(started=False, url=""))) == [
        (
            "process", "warning", "process 7 is still starting",
            "compute up status --data /srv/world",
        ),
        ("port", "skipped", "the platform has not written its address", ""),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("pid", "answers", "expected"),
    [
        (
            7, False,
            ("failed", "https://127.0.0.1:7 accepts no connections, although process 7 runs",
             "compute down --data /srv/world"),
        ),
        (
            0, True,
            ("warning",
             "another program has taken https://127.0.0.1:7: the platform needs another port",
             "compute up --detach --port 0 --data /srv/world"),
        ),
        (0, False, ("passed", "https://127.0.0.1:7 is free", "")),
    ],
)  # fmt: skip
def test_the_port(pid, answers, expected):
    assert said(port_check(world(pid=pid, answers=answers))) == expected


def test_the_disk():
    assert said(disk_check(world())) == ("passed", "5 GiB free in /srv/world", "")
    assert said(disk_check(world(free_bytes=900 * MIB))) == (
        "warning", "900 MiB free in /srv/world", "df -h /srv/world",
    )  # fmt: skip
    assert said(disk_check(world(free_bytes=MIB))) == (
        "failed", "1 MiB free in /srv/world: writes will fail", "df -h /srv/world",
    )  # fmt: skip


def test_errors_in_the_log():
    assert said(log_check(world(errors=("first", "last")))) == (
        "warning", "2 errors; the last one: last", "tail -n 50 /srv/world/up.log",
    )  # fmt: skip
    assert log_check(world(errors=("x" * 200,))).detail.endswith("xxx...")


def test_further_processes():
    assert said(leftovers_check(world(others=(8, 9)))) == (
        "warning", "further processes were started for /srv/world: 8, 9", "ps -fp 8,9",
    )  # fmt: skip


def test_cells_that_cannot_be_read():
    assert bad(cell_checks(world(cells=ABSENT))) == [
        ("cells", "skipped", "the hub cannot be read: the server does not serve the kind", "")
    ]


def test_cells():
    found = bad(
        cell_checks(
            world(
                cells=(
                    cell(cut=True),
                    cell("lhr", "", ready=False),
                    cell("sin", "SIN", ready=False, message="no report for 40 s"),
                )
            )
        )
    )

    assert [(detail, cure) for _, _, detail, cure in found] == [
        (
            "cell dfw of DFW is cut off, which a user asked for",
            "compute cell heal dfw --data /srv/world",
        ),
        (
            "cell lhr is not Ready: it has not reported yet",
            "compute up status --data /srv/world",
        ),
        (
            "cell sin of SIN is not Ready: no report for 40 s",
            "compute up status --data /srv/world",
        ),
    ]


def test_the_cells_of_some_cities():
    both = world(cells=(cell(cut=True), cell("lhr", "LHR")))

    assert not bad(cell_checks(both.only({"LHR"})))
    assert world(cells=ABSENT).only({"LHR"}).cells is ABSENT

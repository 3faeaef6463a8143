"""Names of workloads as a user gives them."""

import click
import pytest

from compute.cli.look.workload_names import workload_names


def test_names_come_from_arguments_and_from_stdin():
    """As other commands print them, each once."""
    lines = ["workload/web\n", "\n", "  edge \n", "workload.compute.datumapis.com/api\n"]

    assert workload_names(["web", "-"], lines) == ["web", "edge", "api"]


@pytest.mark.parametrize(
    ("argument", "error"),
    [
        ("instance/web-0", "'instance/web-0' is no workload; write NAME or workload/NAME"),
        ("workload/", "'workload/' is no name of a workload; give one name a line"),
        ("web edge", "'web edge' is no name of a workload; give one name a line"),
        ("-", "there are no names of workloads on stdin"),
    ],
)
def test_other_words_are_refused(argument, error):
    """An empty stdin too: what should have printed names has failed."""
    with pytest.raises(click.UsageError) as refusal:
        workload_names([argument], [])

    assert str(refusal.value) == error

"""Durations as options of a command."""

from datetime import timedelta

import click
import pytest
from click.testing import CliRunner

from compute.cli.shell.parameters import DURATION


@click.command()
@click.option("--wait", type=DURATION, default=timedelta(minutes=5))
def command(wait: timedelta) -> None:
    click.echo(f"{wait.total_seconds():g}")


@pytest.mark.parametrize(
    ("arguments", "seconds"), [([], 300), (["--wait=90s"], 90), (["--wait=1h30m"], 5400)]
)
def test_a_duration_is_written_as_kubernetes_writes_it(arguments, seconds):
    """And one that is not given has its default."""
    assert CliRunner().invoke(command, arguments).output == f"{seconds}\n"


@pytest.mark.parametrize(("text", "why"), [("5", "5"), ("soon", "soon"), ("-1m", "is negative")])
def test_what_is_no_duration_is_refused(text, why):
    """With what was written, and with the option's name."""
    got = CliRunner().invoke(command, [f"--wait={text}"])
    assert got.exit_code == 2
    assert "'--wait'" in got.output
    assert why in got.output

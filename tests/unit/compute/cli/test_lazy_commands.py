"""Commands are listed without being imported, and fail like one another."""

import re
import sys

import click
import pytest

from compute.__main__ import main
from compute.cli import root
from compute.cli.root import run
from compute.cli.shell.groups import Entry


@pytest.fixture
def elsewhere(monkeypatch):
    """A command that fails with an error of click, after one whose module does not exist."""

    @click.command()
    def command() -> None:
        raise click.ClickException("the \x1b disk is full")

    module = type(sys)("elsewhere")
    vars(module)["command"] = command
    monkeypatch.setitem(sys.modules, "elsewhere", module)
    monkeypatch.setitem(root.root.entries, "absent", Entry("no.such.module", "Do nothing."))
    monkeypatch.setitem(root.root.entries, "elsewhere", Entry("elsewhere", "Do something."))


@pytest.mark.usefixtures("elsewhere")
def test_help_imports_no_command(capsys):
    """It lists them in order, and a module that cannot be imported is no problem."""
    assert run(["--help"]) == 0
    out = capsys.readouterr().out
    assert re.search("plan .*absent +Do nothing.*elsewhere +Do something", out, re.DOTALL)


@pytest.mark.usefixtures("elsewhere")
def test_an_error_of_click_is_a_sentence(capsys):
    """The sentence is printed as it is, with control characters escaped, and the code is 1."""
    assert run(["elsewhere"]) == 1
    assert capsys.readouterr().err == "Error: the \\x1b disk is full\n"


@pytest.mark.usefixtures("elsewhere")
def test_a_usage_error_names_the_command(capsys):
    """A usage error points to the help of that command, with code 2."""
    assert run(["elsewhere", "--none"]) == 2
    assert "Next:  compute elsewhere --help\n" in capsys.readouterr().err


def test_the_plane_is_a_command(capsys, monkeypatch):
    """`compute plane` is there, and names the option that it needs."""
    monkeypatch.setattr(sys, "argv", ["compute", "plane"])

    assert main() == 2
    assert "Missing option '--data'" in capsys.readouterr().err

"""Commands of other packages, handed to the command line."""

import sys

import click
import pytest

from compute.__main__ import main
from compute.cli.root import run


@pytest.fixture
def more(monkeypatch):
    """A command from elsewhere that fails in its own words."""

    @click.command()
    def command() -> None:
        raise click.ClickException("the \x1b disk is full")

    module = type(sys)("elsewhere")
    vars(module)["command"] = command
    monkeypatch.setitem(sys.modules, "elsewhere", module)
    return {"elsewhere": ("elsewhere", "Do something.")}


def test_they_stand_in_the_help(capsys, more):
    """Help lists them after our own, and the module is not imported for it."""
    assert run(["--help"], {"absent": ("no.such.module", "Do nothing."), **more}) == 0
    out = capsys.readouterr().out
    assert out.index("plan ") < out.index("absent") < out.index("elsewhere  Do something.")


def test_they_fail_in_their_own_words(capsys, more):
    """The sentence is printed as it is, with control characters escaped, and the code is 1."""
    assert run(["elsewhere"], more) == 1
    assert capsys.readouterr().err == "Error: the \\x1b disk is full\n"


def test_they_are_called_wrongly_like_any_other(capsys, more):
    """A usage error points to the help of that command, with code 2."""
    assert run(["elsewhere", "--none"], more) == 2
    assert "see `compute elsewhere --help`" in capsys.readouterr().err


def test_the_plane_is_one_of_them(capsys, monkeypatch):
    """`compute plane` is there, and says what it needs."""
    monkeypatch.setattr(sys, "argv", ["compute", "plane"])

    assert main() == 2
    assert "Missing option '--data'" in capsys.readouterr().err

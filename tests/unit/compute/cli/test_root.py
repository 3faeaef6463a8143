"""The root command: help, versions, and failures in one sentence."""

import importlib.metadata
import re
import sys

import click
import pytest

from compute.cli import root
from compute.cli.root import run
from compute.cli.shell.groups import Entry


def test_help_lists_the_commands(capsys):
    """Help names every command with one line."""
    assert run(["--help"]) == 0
    out = capsys.readouterr().out
    assert re.search("plan +Show what Workload manifests would create", out)


def test_no_arguments_show_the_help(capsys):
    """Without arguments it shows the help, and the code says that it did nothing."""
    assert run([]) == 2
    assert "Usage: compute" in capsys.readouterr().err


def test_the_version_is_the_packages(capsys):
    """The version is that of the installed distribution."""
    assert run(["--version"]) == 0
    assert capsys.readouterr().out.strip() == importlib.metadata.version("datum-compute")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["plam"],
            "there is no command 'plam' of compute; did you mean 'plan'?\nNext:  compute --help\n",
        ),
        (["plan"], "Missing option '-f' / '--file'\nNext:  compute plan --help\n"),
        (["plan", "-f"], "Option '-f' requires an argument\nNext:  compute plan --help\n"),
        (["plan", "-f", "x", "-o", "xml"], "'xml' is not one of 'table', 'json', 'yaml'"),
        (["plan", "-f", "x", "--cities", "DFW,,LHR"], "--cities: a city code is empty"),
    ],
)
def test_wrong_calls_are_explained(capsys, arguments, message):
    """A usage error is one sentence on stderr and one next command, with code 2, and nothing on stdout."""
    assert run(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("Error: ")
    assert message in err
    assert err.count("\n") == 2
    assert "\nNext:  compute " in err


@pytest.fixture
def faulty(monkeypatch):
    """A command with a bug in it."""

    @click.command()
    def command() -> None:
        raise ValueError("1\x1b[31m")

    module = type(sys)("faulty")
    vars(module)["command"] = command
    monkeypatch.setitem(sys.modules, "faulty", module)
    monkeypatch.setitem(root.root.entries, "faulty", Entry("faulty", "Fail."))
    monkeypatch.delenv("COMPUTE_DEBUG", raising=False)


@pytest.mark.usefixtures("faulty")
def test_a_bug_is_reported_in_a_sentence(capsys):
    """A user sees no traceback, but how to get one."""
    assert run(["faulty"]) == 1
    assert capsys.readouterr().err == (
        "Error: a bug of compute: ValueError: 1\\x1b[31m; COMPUTE_DEBUG=1 shows where\n"
    )


@pytest.mark.usefixtures("faulty")
def test_a_bug_can_be_traced(monkeypatch):
    """A developer needs to know where the bug is."""
    monkeypatch.setenv("COMPUTE_DEBUG", "1")
    with pytest.raises(ValueError, match="1"):
        run(["faulty"])


def test_an_argument_that_is_no_text(capsys, monkeypatch):
    """Its bytes cannot be sent to a server, which is no bug."""

    @click.command()
    @click.argument("text")
    def command(text: str) -> None:
        text.encode()

    module = type(sys)("encoding")
    vars(module)["command"] = command
    monkeypatch.setitem(sys.modules, "encoding", module)
    monkeypatch.setitem(root.root.entries, "encoding", Entry("encoding", "Encode."))

    assert run(["encoding", "\udcff"]) == 2
    assert capsys.readouterr().err == (
        "Error: an argument is not text in UTF-8, which no server takes\nNext:  compute --help\n"
    )

"""How help is laid out."""

import re

import pytest

from compute.cli.exits import Exit
from compute.cli.root import run
from compute.cli.shell.commands import ComputeCommand
from tests.support.compute.printed_commands import all_commands

_FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]*[a-z]")
TARGETS = list(all_commands())


@pytest.mark.parametrize("width", [50, 60, 66, 80])
def test_a_flag_is_never_broken(capsys, monkeypatch, width):
    """A user searches for it, and copies it."""
    monkeypatch.setenv("COLUMNS", str(width))
    assert run(["quota", "--help"]) == 0
    out = capsys.readouterr().out

    assert "--certificate-authority" in out
    assert "-n/--namespace" in out
    assert out.isascii()


@pytest.mark.parametrize("flag", ["--image-pull-secret", "--location-selector", "--exit-code"])
def test_the_flags_of_deploy_are_whole(capsys, monkeypatch, flag):
    """In a narrow terminal, too."""
    monkeypatch.setenv("COLUMNS", "56")
    assert run(["deploy", "--help"]) == 0
    assert flag in _FLAG.findall(capsys.readouterr().out)


def test_commands_of_a_server_may_not_find_it():
    """Any of them may lack the project, or lose the server."""
    lacking = [
        path
        for path, command in TARGETS
        if getattr(command, "has_target", False)
        and not {Exit.UNKNOWN, Exit.NOT_FOUND} <= set(getattr(command, "exits", ()))
    ]
    assert lacking == []


def test_every_command_teaches_by_examples():
    """A purpose in a line, and at least two examples; that they can be typed is tested elsewhere."""
    lacking = [
        path
        for path, command in TARGETS
        if isinstance(command, ComputeCommand)
        and (len(command.examples) < 2 or not command.get_short_help_str())
    ]
    assert lacking == []

"""Every command that any text prints exists, and the parser takes it with its flags.

Users type what they read. So reasons, failures, help texts, documents and tools are searched, and what
they show is parsed, but not run.
"""

import click
import pytest

from compute.cli.root import root
from tests.support.compute.printed_commands import (
    ROOT,
    Printed,
    all_commands,
    of_examples,
    of_page,
    of_reasons,
    of_source,
    problem,
    problems,
)

SOURCES = sorted([*ROOT.glob("src/**/*.py"), ROOT / "tools" / "demo.py"])
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("docs/cli/*.md")])


@pytest.fixture(autouse=True)
def _at_the_root(monkeypatch):
    """Examples name files of the repository."""
    monkeypatch.chdir(ROOT)


@pytest.mark.parametrize("name", root.entries)
def test_every_listed_command_is_written(name):
    """The table of commands names modules that exist, and each command has examples that parse."""
    command = root.get_command(click.Context(root), name)
    assert command is not None
    found = [
        printed
        for path, each in all_commands(command, f"compute {name}")
        for printed in of_examples(each, path)
    ]
    assert problems(found) == ""


def test_every_command_explains_itself():
    """Each has a purpose, examples and exit codes; a group only needs a purpose."""
    lacking: list[str] = []
    for path, command in all_commands():
        if not (command.help or "").strip():
            lacking.append(f"{path}: no purpose")
        elif not hasattr(command, "entries") and path != "compute":
            lacking += [
                f"{path}: no {what}"
                for what in ("examples", "exits")
                if not getattr(command, what, ())
            ]
    assert lacking == []


def test_the_next_steps_of_reasons_can_be_typed():
    """A reason is shown where something is wrong; its next step must not be wrong as well."""
    found = list(of_reasons())
    assert len(found) > 50
    assert problems(found) == ""


def test_the_commands_in_the_source_can_be_typed():
    """Next steps of failures, help texts, messages and docstrings."""
    found = [printed for file in SOURCES for printed in of_source(file)]
    assert len(found) > 50
    assert problems(found) == ""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_commands_of_the_docs_can_be_typed(page):
    """Whole lines in code, and commands that a sentence names."""
    assert problems(of_page(page)) == ""


@pytest.mark.parametrize(
    "text",
    [
        "compute delpoy web",
        "compute config use-project",
        "compute config use-project web --force",
        "compute config set colour red",
        "compute config \x00",
    ],
)
def test_a_wrong_command_is_found(text):
    """A misspelled name, a missing argument, an unknown flag, and a wrong value."""
    assert problem(Printed("here", text)) != ""


@pytest.mark.parametrize(
    ("printed", "fits"),
    [
        (Printed("", "compute config use-project", mention=True), True),
        (Printed("", "compute config use-project --force", mention=True), False),
        (Printed("", "compute config use-project NAME"), True),
        (Printed("", "compute config use-project \x00"), True),
        (Printed("", "compute config view -o json | jq .server"), True),
        (Printed("", "compute --help"), True),
    ],
)
def test_placeholders_are_filled(printed, fits):
    """Words in capitals stand for values, and a sentence may name a command without its arguments."""
    assert (problem(printed) == "") is fits

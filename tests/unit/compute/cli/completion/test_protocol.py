"""The answers to `__complete`: one candidate a line, and never an error."""

import subprocess
import sys

import click
import pytest

from compute.__main__ import complete_for_kubectl
from compute.cli.completion import live_names, values
from compute.cli.completion.protocol import answer
from compute.cli.root import run
from compute.cli.shell.commands import command
from compute.cli.shell.groups import Entry, LazyGroup
from compute.cli.shell.parameters import (
    city_option,
    instance_argument,
    workload_argument,
    workloads_argument,
)

NAMES = {
    "workloads": [("api", "nginx:1"), ("web", "")],
    "instances": [("web-home-dfw-0", "Ready")],
    "cities": [("DFW", "Dallas"), ("LHR", "London")],
    "revisions": [("1", "initial deploy")],
    "projects": [("demo", "")],
    "contexts": [("project-demo", "")],
}


@command(name="stop", target=True)
@workloads_argument
@city_option
@click.option("--min", "least", type=int, help="How many at least.\nNot more.")
def stop(**_: object) -> None:
    """Stop something."""


@command(name="undo")
@workload_argument
@click.option("--to", shell_complete=values.revisions)
@click.option("-f", "--file", type=click.Path())
@click.option("--folder", type=click.Path(file_okay=False))
def undo(**_: object) -> None:
    """Undo something."""


@command(name="show")
@instance_argument
def show(**_: object) -> None:
    """Show something."""


@pytest.fixture
def asked(monkeypatch):
    """What the command line would ask the server: resource, flags, workload."""
    module, asked = sys.modules[__name__], []
    entries = {
        "stop": Entry(module.__name__, "Stop workloads.", attribute="stop"),
        "inner": Entry(module.__name__, "A group.", attribute="inner"),
        "absent": Entry("no.such.module", "Not written."),
        "hidden": Entry(module.__name__, "The old name.", hidden=True, attribute="stop"),
    }
    below = {
        "undo": Entry(module.__name__, "Undo it.", attribute="undo"),
        "show": Entry(module.__name__, "Show it.", attribute="show"),
    }
    monkeypatch.setitem(
        vars(module), "inner", LazyGroup("inner", below, default="undo", default_takes_words=True)
    )
    monkeypatch.setitem(vars(module), "root", LazyGroup("compute", entries))

    def names(resource, flags, workload=""):
        asked.append((resource, dict(flags), workload))
        return NAMES[resource]

    monkeypatch.setattr(live_names, "live_names", names)
    return asked


def lines(*words: str) -> list[str]:
    return answer(vars(sys.modules[__name__])["root"], words).splitlines()


@pytest.mark.usefixtures("asked")
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([""], ["stop\tStop workloads.", "inner\tA group.", "absent\tNot written.", ":4"]),
        ([], ["stop\tStop workloads.", "inner\tA group.", "absent\tNot written.", ":4"]),
        (["st"], ["stop\tStop workloads.", ":4"]),
        (["hid"], [":4"]),
        (["absent", ""], [":4"]),
        (["nonsense", ""], [":4"]),
        (["stop", ""], ["api\tnginx:1", "web", ":4"]),
        (["stop", "w"], ["web", ":4"]),
        (["stop", "web", ""], ["api\tnginx:1", ":4"]),
        (
            ["stop", "--ci"],
            ["--city\tOnly these cities; a code such as DFW, or the name of a location.", ":4"],
        ),
        (["stop", "--city", ""], ["DFW\tDallas", "LHR\tLondon", ":4"]),
        (["stop", "--city", "l"], ["LHR\tLondon", ":4"]),
        (["stop", "--city=D"], ["DFW\tDallas", ":4"]),
        (["stop", "--city", "DFW,"], ["DFW,LHR\tLondon", ":4"]),
        (["stop", "--city", "DFW", "--city", ""], ["LHR\tLondon", ":4"]),
        (["stop", "--mi"], ["--min\tHow many at least. Not more.", ":4"]),
        (["stop", "--pro"], ["--project\tThe project.", ":4"]),
        (["stop", "--project", ""], ["demo", ":4"]),
        (["stop", "--context", "pro"], ["project-demo", ":4"]),
        (["stop", "--", ""], [":4"]),
        (["inner", ""], ["undo\tUndo it.", "show\tShow it.", "api\tnginx:1", "web", ":4"]),
        (["inner", "w"], ["web", ":4"]),
        (["inner", "--t"], ["--to", ":4"]),
        (["inner", "--to="], ["1\tinitial deploy", ":4"]),
        (["inner", "web", "--to", ""], ["1\tinitial deploy", ":4"]),
        (["inner", "undo", "web", "--file", ""], [":0"]),
        (["inner", "undo", "web", "--folder", ""], [":16"]),
        (["inner", "show", ""], ["web-home-dfw-0\tReady", ":4"]),
    ],
    ids=lambda part: " ".join(part) if isinstance(part, list) else "",
)
def test_candidates_of_each_word(words, expected):
    """Commands, flags and values; what cannot be completed has no candidates."""
    assert lines(*words) == expected


def test_a_command_without_arguments_offers_its_flags(asked):
    """Plain Tab after everything else shows what else there is."""
    offered = [line.partition("\t")[0] for line in lines("inner", "undo", "web", "")]

    assert offered == ["--to", "-f", "--file", "--folder", "-h", "--help", ":4"]
    assert asked == []


def test_the_names_are_those_of_the_target(asked):
    """Flags before the word choose the server; a revision belongs to a workload."""
    lines("stop", "--project", "shop", "-n", "team", "")
    lines("inner", "undo", "web", "--to", "")

    assert asked == [
        ("workloads", {"project": "shop", "namespace": "team"}, ""),
        ("revisions", {}, "web"),
    ]


@pytest.mark.usefixtures("asked")
def test_a_name_cannot_add_lines(monkeypatch):
    """A name or a description is text of others: control characters are left out."""
    monkeypatch.setitem(NAMES, "workloads", [("a\x1b[31m\nb", "c\nd\te\x07")])

    assert lines("stop", "") == ["a[31mb\tc d e", ":4"]


@pytest.mark.usefixtures("asked")
def test_an_error_is_no_candidate(monkeypatch, capfd):
    """A shell would show it in the middle of the line that is being typed."""

    def broken(*_: object) -> None:
        raise ValueError("no")

    monkeypatch.setattr(live_names, "live_names", broken)

    assert lines("stop", "") == [":4"]
    assert capfd.readouterr() == ("", "")


def test_the_requests_of_other_programs(capsys, monkeypatch):
    """Datumctl and cobra ask with and without descriptions; kubectl calls a program of its own."""
    assert run(["__complete", "completion", "b"]) == 0
    assert run(["__completeNoDesc", "plane", "u"]) == 0
    monkeypatch.setattr(sys, "argv", ["kubectl_complete-compute", "plane", "k"])
    assert complete_for_kubectl() == 0

    assert capsys.readouterr().out.splitlines() == [
        "bash", ":4", "users", ":4", "keys\tShow and change the keys that seal secrets.", ":4",
    ]  # fmt: skip


def test_the_manifest_of_the_plugin(capsys):
    """Datumctl reads who the plugin is, and the versions of the contract."""
    assert run(["--plugin-manifest"]) == 0
    assert capsys.readouterr().out == (
        '{\n  "name": "compute",\n  "version": "0.1.0",\n  "description": "A federated compute control '
        'plane: containers in the cities you name, kept there.",\n  "api_version": 1,\n'
        '  "min_api_version": 1\n}\n'
    )


# What a person waits for at each press of Tab. `ssl` alone costs as much as Python itself.
HEAVY = (
    "asyncio",
    "ssl",
    "msgspec",
    "yaml",
    "rich",
    "cryptography",
    "kubekit",
    "logging",
    "http",
    "uvloop",
)


@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["--version"], ["__complete", ""], ["__complete", "workl"], ["--plugin-manifest"]],
    ids=" ".join,
)
def test_help_and_completion_import_nothing_heavy(arguments):
    """Which modules are imported does not depend on the machine, as times do."""
    assert heavy_modules(arguments) == set()


@pytest.mark.parametrize(
    "arguments",
    [
        ["completion", "--help"],
        ["config", "view", "--help"],
        ["config", "set", "--help"],
        ["version", "--help"],
        ["up", "--help"],
        ["down", "--help"],
        ["reset", "--help"],
        ["cell", "cut", "--help"],
        ["__complete", "up", "--ci"],
        ["__complete", "config", "set", ""],
    ],
    ids=" ".join,
)
def test_help_of_a_command_imports_no_client_and_no_server(arguments):
    """What a command needs to run is imported when it runs. Types of options may need some of it."""
    allowed = {"msgspec", "kubekit", "logging"}
    assert heavy_modules(arguments) <= allowed


def heavy_modules(arguments: list[str]) -> set[str]:
    """The heavy modules that a call imports, in a process of its own."""
    script = f"""
import sys
from compute.cli.root import run
code = run({arguments!r})
imported = {{name.partition(".")[0] for name in sys.modules}}
print(*sorted(imported & set({HEAVY!r})), file=sys.stderr)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return set(done.stderr.split())

"""Which server and which project a command uses: one table over real files and variables.

The rules are in `compute.cli.target.resolution`. Each row adds what is weaker than the winner, so that the
order is what decides.
"""

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from compute.app.system_environment import system
from compute.cli.exits import Exit, Failure
from compute.cli.target.chosen import TargetRule
from compute.cli.target.resolution import by_rule, resolve, wishes_of

PROJECTS = "/apis/resourcemanager.miloapis.com/v1alpha1/projects"
DATUMCTL = {"DATUM_PLUGIN_API_VERSION": "1", "DATUM_API_HOST": "api.example.test"}


def kubeconfig(name: str, current: str, **servers: str) -> str:
    """A kubeconfig whose contexts have servers of the same names."""
    return json.dumps(
        {
            "clusters": [
                {"name": each, "cluster": {"server": f"https://{name}.test{path}"}}
                for each, path in servers.items()
            ],
            "contexts": [
                {"name": each, "context": {"cluster": each, "namespace": f"ns-{name}"}}
                for each in servers
            ],
            "current-context": current,
        }
    )


@dataclass
class Machine:
    """A user's machine: a home, worlds, kubeconfig files and settings."""

    home: Path
    variables: dict[str, str] = field(default_factory=dict)

    def write(self, path: str, text: str) -> Path:
        file = self.home / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def world(self, path: str, name: str) -> None:
        projects = {f"project-{p}": f"{PROJECTS}/{p}/control-plane" for p in ("demo", "shop")}
        self.write(f"{path}/kubeconfig", kubeconfig(name, "project-demo", hub="/hub", **projects))
        self.write(f"{path}/planes/core/plane.db", "")


WORLD, OTHER_WORLD = ".local/share/compute", "other"


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A machine with everything, of which the variables of a row say what counts."""
    machine = Machine(tmp_path)
    machine.world(OTHER_WORLD, "other-world")
    machine.write("named", kubeconfig("named", "a", a="", b=f"{PROJECTS}/blue/control-plane"))
    machine.write("listed", kubeconfig("listed", "c", c=""))
    monkeypatch.setattr(sys, "argv", ["compute"])
    monkeypatch.chdir(tmp_path)
    return machine


def has_world(machine: Machine) -> None:
    machine.world(WORLD, "world")


def has_kubeconfig(machine: Machine) -> None:
    machine.write(".kube/config", kubeconfig("home", "h", h="", project="/x"))


def has_kubeconfig_without_context(machine: Machine) -> None:
    machine.write(".kube/config", kubeconfig("home", "", h=""))


def has_settings(**values: object) -> Callable[[Machine], None]:
    def write(machine: Machine) -> None:
        machine.write(".config/compute/config.json", json.dumps(values))

    return write


def as_kubectl(_: Machine) -> None:
    sys.argv = ["/usr/bin/kubectl-compute"]


WORLD_ONLY = (has_world,)
FILES = (has_world, has_kubeconfig)
SETTINGS = (*FILES, has_settings(context="project"))
LOCAL = (*FILES, has_settings(context="local"))


@dataclass(frozen=True)
class Row:
    """A call on a machine, and the target it gets."""

    name: str
    rule: TargetRule
    server: str
    project: str = ""
    namespace: str = "default"
    machine: tuple[Callable[[Machine], None], ...] = ()
    flags: Mapping[str, str] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.name


RULE = TargetRule
SERVER = {"COMPUTE_SERVER": "https://variable.test"}
DATA = {"COMPUTE_DATA": "other"}
ROWS = [
    # The server: each rule wins over all that follow it.
    Row("nothing but a world", RULE.WORLD, "world.test", "demo", "ns-world", WORLD_ONLY),
    Row("kubeconfig over world", RULE.KUBECONFIG, "home.test", "", "ns-home", FILES),
    Row(
        "kubeconfig without a current context does not count",
        RULE.WORLD, "world.test", "demo", "ns-world", (has_world, has_kubeconfig_without_context),
    ),
    Row("settings over kubeconfig", RULE.SETTINGS, "home.test/x", "", "ns-home", SETTINGS),
    Row("settings may name the world", RULE.SETTINGS, "world.test", "demo", "ns-world", LOCAL),
    Row(
        "COMPUTE_DATA over settings",
        RULE.DATA, "other-world.test", "demo", "ns-other-world", SETTINGS, {}, DATA,
    ),
    Row("COMPUTE_SERVER over COMPUTE_DATA", RULE.SERVER, "variable.test", "", "default", SETTINGS, {}, SERVER | DATA),
    Row(
        "datumctl over COMPUTE_SERVER",
        RULE.PLUGIN, "api.example.test", "plug", "default", SETTINGS, {},
        DATUMCTL | {"DATUM_PROJECT": "plug"} | SERVER | DATA,
    ),
    Row(
        "--context over datumctl",
        RULE.FLAGS, "home.test/x", "", "ns-home", SETTINGS, {"context": "project"},
        DATUMCTL | {"DATUM_PROJECT": "plug"} | SERVER,
    ),
    Row("--context local", RULE.FLAGS, "world.test", "demo", "ns-world", SETTINGS, {"context": "local"}, SERVER),
    Row("--kubeconfig", RULE.FLAGS, "named.test", "", "ns-named", SETTINGS, {"kubeconfig": "named"}, SERVER),
    Row(
        "--kubeconfig with --context",
        RULE.FLAGS, "named.test", "blue", "ns-named", SETTINGS,
        {"kubeconfig": "named", "context": "b"}, SERVER,
    ),
    Row("--data", RULE.FLAGS, "other-world.test", "demo", "ns-other-world", SETTINGS, {"data": "other"}, SERVER),
    Row(
        "--server over all other flags",
        RULE.FLAGS, "flag.test", "", "default", SETTINGS,
        {"server": "https://flag.test/", "kubeconfig": "named", "data": "other"}, SERVER,
    ),
    Row("KUBECONFIG over ~/.kube/config", RULE.KUBECONFIG, "listed.test", "", "ns-listed", FILES, {}, {"KUBECONFIG": "listed"}),
    Row(
        "files of KUBECONFIG may be missing",
        RULE.KUBECONFIG, "listed.test", "", "ns-listed", FILES, {}, {"KUBECONFIG": "nowhere:listed"},
    ),
    # As a plugin of kubectl, the kubeconfig goes before everything that leads to a world.
    Row("kubectl: kubeconfig over COMPUTE_DATA", RULE.KUBECONFIG, "home.test", "", "ns-home", (*FILES, as_kubectl), {}, DATA),
    Row("kubectl: kubeconfig over local", RULE.KUBECONFIG, "home.test", "", "ns-home", (*LOCAL, as_kubectl)),
    Row("kubectl: settings over kubeconfig", RULE.SETTINGS, "home.test/x", "", "ns-home", (*SETTINGS, as_kubectl)),
    Row("kubectl: a world is the last", RULE.WORLD, "world.test", "demo", "ns-world", (*WORLD_ONLY, as_kubectl)),
    Row("kubectl: COMPUTE_DATA without a kubeconfig", RULE.DATA, "other-world.test", "demo", "ns-other-world", (as_kubectl,), {}, DATA),
    Row("kubectl: COMPUTE_SERVER", RULE.SERVER, "variable.test", "", "default", (*FILES, as_kubectl), {}, SERVER),
    # The project.
    Row(
        "--project over COMPUTE_PROJECT",
        RULE.SERVER, "variable.test", "flag", "default", (), {"project": "flag"},
        SERVER | {"COMPUTE_PROJECT": "variable"},
    ),
    Row(
        "COMPUTE_PROJECT over settings",
        RULE.SERVER, "variable.test", "variable", "default", (has_settings(project="saved"),), {},
        SERVER | {"COMPUTE_PROJECT": "variable"},
    ),
    Row("settings name a project", RULE.SERVER, "variable.test", "saved", "default", (has_settings(project="saved"),), {}, SERVER),
    Row(
        "DATUM_PROJECT over COMPUTE_PROJECT and settings",
        RULE.PLUGIN, "api.example.test", "plug", "default", (has_settings(project="saved"),), {},
        DATUMCTL | {"DATUM_PROJECT": "plug", "COMPUTE_PROJECT": "variable"},
    ),
    Row(
        "--project over DATUM_PROJECT",
        RULE.PLUGIN, "api.example.test", "flag", "default", (), {"project": "flag"},
        DATUMCTL | {"DATUM_PROJECT": "plug"},
    ),
    Row(
        "DATUM_PROJECT means nothing without datumctl",
        RULE.SERVER, "variable.test", "", "default", (), {}, SERVER | {"DATUM_PROJECT": "plug"},
    ),
    Row("a project of a world has a context", RULE.WORLD, "world.test", "shop", "ns-world", WORLD_ONLY, {"project": "shop"}),
    Row(
        "--context names its own project",
        RULE.FLAGS, "named.test", "blue", "ns-named", (has_settings(project="saved"),),
        {"kubeconfig": "named", "context": "b"}, {"COMPUTE_PROJECT": "variable"},
    ),
    Row(
        "--project over the one of --context",
        RULE.FLAGS, "named.test", "flag", "ns-named", (),
        {"kubeconfig": "named", "context": "b", "project": "flag"},
    ),
    # The namespace.
    Row(
        "--namespace over COMPUTE_NAMESPACE",
        RULE.WORLD, "world.test", "demo", "flag", WORLD_ONLY, {"namespace": "flag"},
        {"COMPUTE_NAMESPACE": "variable"},
    ),
    Row(
        "COMPUTE_NAMESPACE over settings",
        RULE.WORLD, "world.test", "demo", "variable", (has_world, has_settings(namespace="saved")),
        {}, {"COMPUTE_NAMESPACE": "variable"},
    ),
    Row(
        "settings over the context",
        RULE.WORLD, "world.test", "demo", "saved", (has_world, has_settings(namespace="saved")),
    ),
]  # fmt: skip


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_the_strongest_rule_that_applies_decides(machine, row):
    """Server, project and namespace of a call, and the rule that chose them."""
    for prepare in row.machine:
        prepare(machine)

    target = resolve(row.flags, system(), {"HOME": str(machine.home), **row.variables})

    server, _, path = target.server.removeprefix("https://").partition(PROJECTS)
    project = path.strip("/").partition("/")[0]
    assert (target.rule, server, project, target.project, target.namespace) == (
        row.rule, row.server, row.project, row.project, row.namespace,
    )  # fmt: skip


REFUSALS = [
    (
        (), {}, {},
        "no server is chosen: there is no kubeconfig with a current context, and no platform on this machine",
        "compute up --detach",
    ),
    (
        (has_kubeconfig,), {"context": "projcet"}, {},
        "{home}/.kube/config: contexts: there is no context 'projcet'; choose one of 'project', 'h'",
        "compute config view",
    ),
    (
        (has_settings(context="gone"), has_kubeconfig), {}, {},
        "{home}/.kube/config: contexts: there is no context 'gone'; choose one of 'project', 'h'",
        "compute config view",
    ),
    (
        (), {"server": "localhost:8080"}, {},
        "--server: 'localhost:8080' is no address: write it as https://HOST:PORT", "",
    ),
    (
        (), {}, {"COMPUTE_SERVER": "https://variable.test", "COMPUTE_CA": "nowhere.crt"},
        "nowhere.crt: cannot be read: No such file or directory", "",
    ),
    (
        (has_kubeconfig,), {"token": "secret"}, {},
        "--token needs --server: {home}/.kube/config has its own", "compute config view",
    ),
    (
        (), {"data": "empty"}, {}, "there is no world in empty", "compute up --detach --data empty",
    ),
    (
        (), {}, {"DATUM_PLUGIN_API_VERSION": "1"},
        "DATUM_API_HOST is not set: call this command as `datumctl compute`", "",
    ),
    (
        (), {}, DATUMCTL,
        "no project is chosen: give --project NAME, or choose one for datumctl",
        "compute status --project NAME",
    ),
    (
        (has_settings(colour="red", context=7),), {}, {},
        "{home}/.config/compute/config.json: not valid settings: Expected `str`, got `int` - at "
        "`$.context`. Correct it, or delete it to start again", "",
    ),
    (
        (), {}, {"KUBECONFIG": "nowhere"}, "{home}/nowhere: cannot be read: No such file or directory",
        "compute config view",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("prepared", "flags", "variables", "cause", "next_step"), REFUSALS)
def test_what_names_no_target_is_refused(machine, prepared, flags, variables, cause, next_step):  # noqa: PLR0917 -- a table
    """A cause that names the file or the flag, and the next command."""
    for prepare in prepared:
        prepare(machine)

    with pytest.raises(Failure) as refused:
        resolve(flags, system(), {"HOME": str(machine.home), **variables})

    assert str(refused.value) == cause.format(home=machine.home)
    assert refused.value.next_step == next_step
    assert refused.value.code in {Exit.ERROR, Exit.USAGE}


def test_the_view_shows_what_each_rule_gives(machine):
    """One that fails does not hide the others."""
    for prepare in (*FILES, has_settings(context="gone")):
        prepare(machine)
    variables = {"HOME": str(machine.home)} | DATA

    given = dict(by_rule(wishes_of({}, system(), variables)))

    assert [rule for rule, target in given.items() if target is None] == [
        RULE.FLAGS, RULE.PLUGIN, RULE.SERVER,
    ]  # fmt: skip
    assert isinstance(given[RULE.SETTINGS], Failure)
    assert {rule for rule, target in given.items() if getattr(target, "rule", None) is rule} == {
        RULE.DATA, RULE.KUBECONFIG, RULE.WORLD,
    }  # fmt: skip


def test_the_source_of_each_part_is_known(machine):
    """`compute config view` says what named the project and the namespace."""
    for prepare in (has_world, has_settings(namespace="saved")):
        prepare(machine)
    home = {"HOME": str(machine.home)}

    target = resolve({"project": "shop"}, system(), home)
    other = resolve({}, system(), home | {"COMPUTE_PROJECT": "demo", "COMPUTE_NAMESPACE": "n"})

    assert (target.project_from, target.namespace_from) == ("--project", "settings")
    assert (other.project_from, other.namespace_from) == ("COMPUTE_PROJECT", "COMPUTE_NAMESPACE")
    assert target.world == machine.home / WORLD

"""The invocations of the original keep their meaning: each line parses to what it asks for.

A row is a line as its users type it, the command that it reaches, and what it means there: `DeployInputs`
for a deploy, else the parameters that matter.
"""

import shlex
from datetime import timedelta
from typing import Any

import click
import pytest

from compute.cli.deploy.deploy_inputs import OPTIONS as DEPLOY_OPTIONS, DeployInputs, read_inputs
from compute.cli.root import root
from compute.cli.shell.groups import LazyGroup
from compute.decide.workload_edits import DeployFlags
from compute.decide.workload_edits.deploy_flags import (
    Assignment,
    EnvironmentSource,
    FileSource,
    PortEdit,
)

TYPE = "datumcloud/d1-standard-2"


def web(location_selector: str = "", **flags: Any) -> DeployInputs:
    """A deploy of the workload ``web`` by flags."""
    return DeployInputs(name="web", flags=DeployFlags(**flags), location_selector=location_selector)


ROWS: tuple[tuple[str, str, Any], ...] = (
    ("deploy web --image=nginx:1 --city=DFW,IAD", "deploy", web(image="nginx:1", cities=("DFW", "IAD"))),
    ("deploy --image nginx:1 web --city DFW --city IAD", "deploy",
     web(image="nginx:1", cities=("DFW", "IAD"))),
    ("deploy web --image nginx:1 --location dfw,lhr", "deploy",
     web(image="nginx:1", cities=("dfw", "lhr"))),
    ("deploy web --image nginx:1 --location-selector region=us", "deploy",
     web("region=us", image="nginx:1")),
    ("deploy web --image nginx:1 --city DFW --instance-type datumcloud-d1-standard-2", "deploy",
     web(image="nginx:1", cities=("DFW",), instance_type=TYPE)),
    ("deploy web --image nginx:1 --city DFW --instance-type d1-standard-2", "deploy",
     web(image="nginx:1", cities=("DFW",), instance_type=TYPE)),
    ("deploy web --image nginx:1 --city DFW --network lab -y", "deploy",
     web(image="nginx:1", cities=("DFW",), network="lab")),
    ("deploy web --image nginx:1 --city DFW --min 2 --max 5 --cpu-percent 60", "deploy",
     web(image="nginx:1", cities=("DFW",), minimum=2, maximum=5, cpu_percent=60)),
    ("deploy web --image nginx:1 --city DFW --port 8080", "deploy",
     web(image="nginx:1", cities=("DFW",), ports=(PortEdit("http", 8080),))),
    ("deploy web --no-http", "deploy", web(ports=(PortEdit("http"),))),
    ("deploy web --env A=1 --env B=x=y --env C-", "deploy",
     web(env=(Assignment("A", "1"), Assignment("B", "x=y"), Assignment("C", None)))),
    ("deploy web --env-from-configmap settings --env-from-secret db:DB_", "deploy",
     web(env_from=(EnvironmentSource("ConfigMap", "settings"), EnvironmentSource("Secret", "db", "DB_")))),
    ("deploy web --env-from-secret db-", "deploy",
     web(env_from=(EnvironmentSource("Secret", "db", removed=True),))),
    ("deploy web --configmap settings:/etc/app --secret tls:/run/tls --secret old-", "deploy",
     web(files=(
         FileSource("ConfigMap", "settings", "/etc/app"),
         FileSource("Secret", "tls", "/run/tls"),
         FileSource("Secret", "old", None),
     ))),
    ("deploy web --label tier=front --label old-", "deploy",
     web(labels=(Assignment("tier", "front"), Assignment("old", None)))),
    ("deploy -f workload.yaml -y", "deploy", DeployInputs(files=("workload.yaml",))),
    ("deploy --file=workload.yaml", "deploy", DeployInputs(files=("workload.yaml",))),
    ("deploy -f -", "deploy", DeployInputs(files=("-",))),
    # Ours: options that may stand alone take no word away, and what follows -- belongs to the container.
    ("deploy --dry-run web --image nginx:1", "deploy", web(image="nginx:1")),
    ("deploy --save web --image nginx:1", "deploy", web(image="nginx:1")),
    ("deploy web --env --dry-run=1", "deploy", web(env=(Assignment("--dry-run", "1"),))),
    ("deploy web --image nginx:1 -- -c --save", "deploy", web(image="nginx:1", args=("-c", "--save"))),
    ("deploy web --command 'python -m http.server' --args '80 --bind \"a b\"'", "deploy",
     web(command=("python", "-m", "http.server"), args=("80", "--bind", "a b"))),
    ("deploy web --command ''", "deploy", web(command=())),
    ("diff web --image nginx:2", "diff", web(image="nginx:2")),
    ("destroy web", "destroy", {"names": ("web",), "yes": False}),
    ("destroy web -y", "destroy", {"names": ("web",), "yes": True}),
    ("destroy -y web", "destroy", {"names": ("web",), "yes": True}),
    ("delete web --yes", "destroy", {"names": ("web",), "yes": True}),
    ("rm web api", "destroy", {"names": ("web", "api"), "yes": False}),
    ("plan -f workload.yaml", "plan", {"files": ("workload.yaml",)}),
    ("scale web --min=3", "scale", {"name": "web", "minimum": 3, "maximum": None}),
    ("scale --min 2 --max 5 --cpu-percent 70 web", "scale",
     {"name": "web", "minimum": 2, "maximum": 5, "cpu_percent": 70}),
    ("scale web --min=1 --max 3 --memory-percent=80", "scale",
     {"minimum": 1, "maximum": 3, "memory_percent": 80}),
    ("restart web", "restart", {"name": "web", "cities": (), "wait": True}),
    ("restart web --city DFW", "restart", {"name": "web", "cities": ("DFW",)}),
    ("restart web --location=dfw,iad", "restart", {"name": "web", "cities": ("DFW", "IAD")}),
    ("rollout web", "rollout status", {"name": "web", "watch": True}),
    ("rollout --timeout=5m web", "rollout status", {"name": "web", "timeout": timedelta(minutes=5)}),
    ("rollout history web", "rollout history", {"name": "web", "revision": None}),
    ("rollout undo web", "rollout undo",
     {"name": "web", "revision": 0, "template_only": True, "cities": ()}),
    ("rollout undo web --to-revision=7", "rollout undo", {"name": "web", "revision": 7}),
    ("rollout undo --to-revision 0 web", "rollout undo", {"name": "web", "revision": 0}),
    # Ours: aliases, and revisions, cities and whole specs of an undo.
    ("rollback web --to 7 --all", "rollback", {"name": "web", "revision": 7, "template_only": False}),
    ("rollout undo web --city DFW,LHR --detach -y", "rollout undo",
     {"cities": ("DFW", "LHR"), "wait": False, "yes": True}),
    ("rollout restart web --instance web-default-dfw-0 --no-wait", "rollout restart",
     {"instances": ("web-default-dfw-0",), "wait": False}),
    ("rollout pause web --location DFW", "rollout pause", {"name": "web", "cities": ("DFW",)}),
    ("rollout promote web --wait", "rollout resume", {"name": "web", "wait": True}),
    ("workloads", "workloads list", {"healths": (), "cities": (), "output": "table"}),
    ("workloads --health degraded --city=DFW,IAD -o wide", "workloads list",
     {"healths": ("degraded",), "cities": ("DFW", "IAD"), "output": "wide"}),
    ("workloads describe web -o wide", "workloads describe", {"name": "web", "output": "wide"}),
    ("workloads describe web -o yaml", "workloads describe", {"name": "web", "output": "yaml"}),
    ("instances --workload web --location dfw --no-headers", "instances list",
     {"workload": "web", "cities": ("DFW",), "no_headers": True}),
    ("instances describe web-default-dfw-0", "instances describe", {"name": "web-default-dfw-0"}),
    # Ours: further verbs, and what the original promised.
    ("wl list --health=available,unavailable --no-headers", "workloads list",
     {"healths": ("available", "unavailable"), "no_headers": True}),
    ("wl get web -o json", "workloads get", {"name": "web", "output": "json"}),
    ("workloads delete web -y", "workloads delete", {"names": ("web",), "yes": True}),
    ("workloads set image web app=nginx:2 --detach", "workloads set image",
     {"name": "web", "assignments": ("app=nginx:2",), "detach": True}),
    ("workloads rollout history web", "workloads rollout history", {"name": "web"}),
    ("inst --status=failed,pending -w", "instances list",
     {"states": ("failed", "pending"), "watch": True}),
    ("instances delete web-default-dfw-0 --wait -y", "instances delete",
     {"name": "web-default-dfw-0", "wait": True, "assume_yes": True}),
)  # fmt: skip


def parsed(line: str) -> tuple[str, click.Context]:
    """The command that a line reaches, by its own name, and its context with the parameters."""
    command: click.Command = root
    path: list[str] = []
    context = root.make_context("compute", shlex.split(line))
    while isinstance(command, click.Group):
        words = [*context._protected_args, *context.args]
        name, found, rest = command.resolve_command(context, words)
        assert name is not None
        assert found is not None
        path.append(command._by_alias.get(name, name) if isinstance(command, LazyGroup) else name)
        command, context = found, found.make_context(name, rest, parent=context)
    return " ".join(path), context


@pytest.mark.parametrize(("line", "command", "meaning"), ROWS, ids=[row[0] for row in ROWS])
def test_a_line_of_the_original_keeps_its_meaning(line, command, meaning):
    """The command and what it is asked for."""
    reached, context = parsed(line)
    parameters = context.params

    assert reached == command
    if isinstance(meaning, DeployInputs):
        with context.scope():
            given = {key: parameters[key] for key in DEPLOY_OPTIONS}
            assert read_inputs(given) == meaning
    else:
        assert parameters | meaning == parameters


def test_options_that_stand_alone_have_a_meaning():
    """With a value, it is that of the user."""
    alone = parsed("deploy web --image nginx:1 --dry-run --save")[1].params
    given = parsed("deploy web --image nginx:1 --dry-run=client --save=other.yaml")[1].params

    assert (alone["dry_run"], alone["save"]) == ("server", "")
    assert (given["dry_run"], given["save"]) == ("client", "other.yaml")


def test_a_port_of_http_is_remembered_to_publish_nothing():
    """The command says so once it is done."""
    _, context = parsed("deploy web --http-port 8080")
    with context.scope():
        inputs = read_inputs({key: context.params[key] for key in DEPLOY_OPTIONS})

    assert inputs.publishes_nothing
    assert inputs.flags.ports == (PortEdit("http", 8080),)

"""Which packages a command imports. Nearly all of the time of a short command is spent on imports."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Final

import msgspec
import pytest

from compute.cli.look import instance_list, instance_list_run
from compute.cli.look.workload import workload_list, workload_list_run
from compute.cli.operate import plane_users, project_users
from tests.support.compute.builders import workload

WORK: Final = (
    "compute.decide", "compute.views", "compute.api", "kubekit.client", "kubekit.plane", "kubekit.runtime",
    "kubekit.cel", "kubekit.api.schema", "asyncio", "ssl", "yaml", "rich", "textual", "dataclasses",
)  # fmt: skip
"""What only the work of a command needs; its help and the completion of its words do without."""

OF_ANSWERS: Final = (
    "compute.decide", "compute.views", "compute.api", "kubekit.client.client", "kubekit.client.http",
    "kubekit.client.documents", "kubekit.client.kubeconfig.exec_plugin", "asyncio", "logging", "yaml", "rich",
)  # fmt: skip
"""What a request of completion does without: the typed client, and the kinds."""

NOT_FOR_A_LIST: Final = (
    "compute.decide.explain.explanations", "compute.decide.quota", "compute.decide.validation",
    "compute.decide.workload_edits", "compute.decide.deployment.rollout", "compute.cli.change.document_patch",
    "kubekit.api.structural", "kubekit.api.schema", "kubekit.client.documents",
    "kubekit.client.kubeconfig.exec_plugin", "kubekit.plane", "kubekit.runtime", "yaml", "rich", "textual",
)  # fmt: skip

EVERY_HELP: Final = """
import sys
import click
from compute.cli.root import root
from compute.cli.shell.groups import LazyGroup

def imported(command, context, forbidden):
    command.get_help(context)
    if new := sorted(sys.modules.keys() & forbidden):
        sys.exit(f"{context.command_path} --help imports {', '.join(new)}")
    if isinstance(command, LazyGroup):
        for name in command.entries:
            below = command.get_command(context, name)
            imported(below, click.Context(below, context, name), forbidden)

imported(root, click.Context(root, None, "compute"), set(sys.argv[1:]))
"""
ONE_COMMAND: Final = """
import sys
from compute.cli.root import run

code = run(sys.argv[2:])
print(*sorted(sys.modules.keys() & set(sys.argv[1].split(","))), file=sys.stderr)
sys.exit(code)
"""


@pytest.fixture
def server() -> Iterator[str]:
    """A server with one workload and nothing else; its address."""
    items = {"workloads": [msgspec.to_builtins(workload())]}

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            found = items.get(self.path.partition("?")[0].rpartition("/")[2], [])
            body = json.dumps({"metadata": {"resourceVersion": "1"}, "items": found}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as serving:
        Thread(target=serving.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{serving.server_port}"
        serving.shutdown()


def python(program: str, *arguments: str, home: Path) -> subprocess.CompletedProcess[str]:
    """Run a program of Python in a process that has imported nothing yet."""
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("COMPUTE_", "DATUM_"))}
    return subprocess.run(
        [sys.executable, "-c", program, *arguments],
        env=inherited | {"HOME": str(home), "KUBECONFIG": str(home / "kubeconfig")},
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip


def connect(home: Path, url: str) -> None:
    """Write a kubeconfig as that of a world: JSON after a comment."""
    config = {
        "current-context": "a",
        "contexts": [{"name": "a", "context": {"cluster": "a", "user": "a"}}],
        "clusters": [{"name": "a", "cluster": {"server": url}}],
        "users": [{"name": "a", "user": {}}],
    }
    (home / "kubeconfig").write_text(f"# of a test\n{json.dumps(config)}\n")


def test_help_imports_no_work(tmp_path):
    """The help of each command needs its options only."""
    done = python(EVERY_HELP, *WORK, home=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


def test_completion_of_names_imports_no_kinds(tmp_path, server):
    """The names come from a plain document."""
    connect(tmp_path, server)
    done = python(ONE_COMMAND, ",".join(OF_ANSWERS), "__complete", "status", "", home=tmp_path)
    assert done.stdout == "web\tregistry.test/web:1\n:4\n"
    assert done.stderr == "\n"


@pytest.mark.parametrize("words", [["workloads"], ["status"], ["instances"]], ids=" ".join)
def test_a_list_imports_what_it_shows(tmp_path, server, words):
    """It needs neither explanations nor quota, and nothing that validates or writes."""
    connect(tmp_path, server)
    done = python(ONE_COMMAND, ",".join(NOT_FOR_A_LIST), *words, home=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[-1] == ""


def test_words_of_options_are_those_of_the_work():
    """They are written out, because their meaning is imported with the work."""
    assert tuple(workload_list_run.HEALTHS) == workload_list.HEALTHS
    assert tuple(workload_list_run.ORDERS) == workload_list.ORDERS
    assert tuple(instance_list_run.STATES) == instance_list.STATES
    assert tuple(project_users.ROLES) == plane_users.ROLES
    assert f"[default: {project_users.DEFAULT_ROLE}]" in str(plane_users.add.params[2].help)

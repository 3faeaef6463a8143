"""One plain cluster runs everything: the overlay is applied as it is, and a manager started from it.

The manager has the token of its own service account, and so exactly the roles of the overlay. The
commands of the runbooks are run on the same cluster.
"""

import json
import os
import re
import shlex
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest
import yaml

from tests.e2e.conftest import Kubectl
from tests.peers.keeper import Keeper
from tools.peers import catalog

pytestmark = [pytest.mark.peer, pytest.mark.e2e, pytest.mark.slow, pytest.mark.long]

ROOT = Path(__file__).parents[2]
CONFIG = ROOT / "config"
RUNBOOKS = ROOT / "docs/operating/runbooks"
STRICT = ("--server-side", "--validate=strict", "--field-manager=operator")
PATIENCE = 60.0  # seconds
SYSTEM = "compute-system"
# What stands for a name in the commands of the runbooks.
NAMES = {"NAME_OF_THE_KIND NAME -n NAMESPACE": "namespace default", "NAME": "single", "CELL": "dfw"}
WORKLOAD = {
    "apiVersion": "compute.datumapis.com/v1alpha",
    "kind": "Workload",
    "metadata": {"name": "web", "namespace": "default"},
    "spec": {
        "placements": [{"name": "home", "cityCodes": ["DFW"], "scaleSettings": {"minReplicas": 2}}],
        "template": {
            "spec": {
                "runtime": {
                    "resources": {"instanceType": "datumcloud/d1-standard-2"},
                    "sandbox": {"containers": [{"name": "app", "image": "registry.test/web:1"}]},
                },
                "networkInterfaces": [{"network": {"name": "default"}}],
            }
        },
    },
}


@dataclass(frozen=True)
class SingleCluster:
    """A cluster with everything on it, and the log of its manager."""

    kubectl: Kubectl
    log: Path


@pytest.fixture(scope="module")
def cluster(tmp_path_factory) -> Iterator[SingleCluster]:
    """A real server of this module's own: on a shared one, the manager would act on other tests."""
    folder = tmp_path_factory.mktemp("single")
    keeper = Keeper("tests.peers")
    try:
        kubeconfig, program = Path(keeper.variables["KUBECONFIG"]), catalog.folder() / "bin/kubectl"
        kubectl = Kubectl(kubeconfig, folder, "default", str(program))
        _install(Kubectl(kubeconfig, folder, SYSTEM, str(program)))
        log = folder / "log"
        with log.open("w") as output, _manager(kubectl, kubeconfig, folder, output):
            yield SingleCluster(kubectl, log)
    finally:
        keeper.stop(keep=False)


def _install(kubectl: Kubectl) -> None:
    """What an operator does: the overlay, and then the sample of the cell."""
    overlay = str(CONFIG / "overlays/single-cluster")
    kubectl("apply", *STRICT, "--force-conflicts", "-k", overlay)
    kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=60s")
    kubectl("apply", *STRICT, "-k", str(CONFIG / "samples/single-cluster"))


@contextmanager
def _manager(kubectl: Kubectl, kubeconfig: Path, folder: Path, log) -> Iterator[None]:
    """The program of the Deployment, with its arguments, its variables and its configuration."""
    deployment = json.loads(
        kubectl("get", "deployment/compute-manager", "-n", SYSTEM, "-o", "json")
    )
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    variables = {each["name"]: each.get("value", "") for each in container["env"]}
    probes = f"127.0.0.1:{_free_port()}"
    variables |= {
        "HEALTH_PROBE_BIND_ADDRESS": probes,
        "SERVER_CONFIG": str(_config(kubectl, deployment, folder)),
        "KUBECONFIG": str(_credential(kubectl, kubeconfig, folder)),
        "POD_NAME": "compute-manager-0",
    }
    arguments = [
        re.sub(r"\$\((\w+)\)", lambda found: variables[found[1]], each)
        for each in container["args"]
    ]
    program = str(Path(sys.executable).with_name(container["command"][0]))
    process = subprocess.Popen(
        [program, *arguments], env=os.environ | variables, stdout=log, stderr=subprocess.STDOUT
    )
    try:
        _until_ready(f"http://{probes}/readyz", process)
        yield
    finally:
        process.terminate()
        assert process.wait(PATIENCE) == 0


def _config(kubectl: Kubectl, deployment, folder: Path) -> Path:
    """The file that is mounted, without the metrics, which would be served on every address."""
    volumes = deployment["spec"]["template"]["spec"]["volumes"]
    (name,) = [each["configMap"]["name"] for each in volumes if "configMap" in each]
    stored = json.loads(kubectl("get", f"configmap/{name}", "-n", SYSTEM, "-o", "json"))
    config = yaml.safe_load(stored["data"]["config.yaml"])
    file = folder / "config.yaml"
    file.write_text(yaml.safe_dump(config | {"metricsServer": {"bindAddress": "0"}}))
    return file


def _credential(kubectl: Kubectl, kubeconfig: Path, folder: Path) -> Path:
    """What a Pod finds in its file system: the token of its service account."""
    token = kubectl("create", "token", "compute-manager", "-n", SYSTEM).strip()
    document = json.loads(kubeconfig.read_text())
    document["users"][0]["user"] = {"token": token}
    file = folder / "credential"
    file.touch(0o600)
    file.write_text(json.dumps(document))
    return file


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _until_ready(url: str, process: subprocess.Popen[bytes]) -> None:
    ends = time.monotonic() + PATIENCE
    while time.monotonic() < ends:
        assert process.poll() is None, "the manager has ended"
        try:
            with urlopen(url, timeout=5) as answer:
                if answer.status == 200:
                    return
        except (URLError, OSError):
            pass
        time.sleep(0.1)  # noqa: TID251 - another process
    raise AssertionError(f"{url}: not ready")


def test_w56_a_plain_cluster_runs_a_workload_from_the_overlay_alone(cluster):
    """It is deployed, scaled and deleted, and nothing is refused meanwhile."""
    kubectl = cluster.kubectl
    kubectl("wait", "network/default", "--for=condition=Ready", "--timeout=60s")
    kubectl("apply", *STRICT, "-f", "-", text=json.dumps(WORKLOAD))
    ready = "--for=jsonpath={.status.readyReplicas}"
    kubectl("wait", "workload/web", f"{ready}=2", "--timeout=60s")
    assert kubectl("get", "instances", "-o", "name").split() == [
        "instance.compute.datumapis.com/web-home-dfw-0",
        "instance.compute.datumapis.com/web-home-dfw-1",
    ]
    scale = '[{"op":"replace","path":"/spec/placements/0/scaleSettings/minReplicas","value":1}]'
    kubectl("patch", "workload/web", "--type=json", "-p", scale)
    kubectl("wait", "instance/web-home-dfw-1", "--for=delete", "--timeout=60s")
    kubectl("delete", "workload/web", "--timeout=60s")
    for kind in ("workloaddeployments", "instances", "resourceclaims.quota.miloapis.com"):
        assert kubectl("get", kind) == "No resources found in default namespace.\n"
    log = cluster.log.read_text()
    for word in ("forbidden", "Traceback", "level=error"):
        assert word not in log


def commands() -> list[str]:
    """The commands of all runbooks, but for logs, which a cluster without nodes has not."""
    blocks = [
        block
        for page in sorted(RUNBOOKS.glob("*.md"))
        for block in re.findall(r"^```sh\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)
    ]
    lines = [line for block in blocks for line in block.splitlines()]
    return sorted({line for line in lines if " logs " not in line and "HOST" not in line})


@pytest.mark.parametrize("command", commands(), ids=str)
def test_the_commands_of_the_runbooks_run(cluster, command):
    """Those that read a Secret or a Certificate find none: there is no other cluster here."""
    for name, real in NAMES.items():
        command = command.replace(name, real)
    program, *arguments = shlex.split(command.partition(" | ")[0])
    assert program == "kubectl"
    absent = "compute-quota-credentials" in command or "certificates.cert-manager.io" in command
    if absent:
        printed = cluster.kubectl(*arguments, code=1).lower()
        assert "not found" in printed or "doesn't have a resource type" in printed
    elif "--kubeconfig" not in arguments:
        cluster.kubectl(*arguments)

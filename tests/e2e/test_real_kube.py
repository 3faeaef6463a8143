"""What we publish, checked by a real kube-apiserver."""

import json
import os
import re
from pathlib import Path

import pytest
import yaml

from compute.api import COMPUTE_KINDS, NEIGHBOUR_KINDS
from compute.api.compute import Workload
from tests.e2e.conftest import NUMBERS, Kubectl
from tests.support.kubekit.kites import namespace_manifest

ROOT = Path(__file__).parents[2]
OURS = sorted(ROOT.glob("config/*/crd/*_*.yaml"))
EXAMPLES = sorted(ROOT.glob("examples/*.yaml"))
KINDS = [*COMPUTE_KINDS, *NEIGHBOUR_KINDS]
SERVER_SIDE = ("apply", "--server-side", "--validate=strict", "-f")

pytestmark = [pytest.mark.peer, pytest.mark.e2e, pytest.mark.slow]


def name_of(path):
    return path.stem


def kind_name(kind):
    return kind.RESOURCE.kind


@pytest.fixture
def real_kubectl(real_server, kubectl_home):
    """Kubectl on the real server, in a namespace that no other test uses."""
    namespace = f"real-{os.getpid()}-{next(NUMBERS)}"
    kubectl = Kubectl(real_server.kubeconfig, kubectl_home, namespace, real_server.kubectl)
    kubectl("create", "-f", "-", text=namespace_manifest(namespace))
    return kubectl


@pytest.mark.parametrize("path", OURS, ids=name_of)
def test_a_definition_is_taken_as_it_is(real_kubectl, path):
    """Strict validation finds nothing to warn of, and the schema and the names are served."""
    name = yaml.safe_load(path.read_text())["metadata"]["name"]

    applied = real_kubectl(*SERVER_SIDE, str(path))
    real_kubectl("wait", "--for=condition=Established", "--timeout=30s", "-f", str(path))
    status = json.loads(real_kubectl("get", "-f", str(path), "-o", "json"))["status"]

    kind = "customresourcedefinition.apiextensions.k8s.io"
    assert applied == f"{kind}/{name} serverside-applied\n"
    conditions = {one["type"]: one["status"] for one in status["conditions"]}
    assert conditions == {"NamesAccepted": "True", "Established": "True"}


def test_the_roles_for_users_become_part_of_kubernetes_own(real_kubectl):
    """A binding of edit deploys with a network, one of view only reads; nothing is warned of."""
    applied = real_kubectl(*SERVER_SIDE[:-1], "-k", str(ROOT / "config/base/rbac"))
    names = ("admin", "editor", "operator", "viewer")
    assert applied.splitlines() == [
        f"clusterrole.rbac.authorization.k8s.io/compute-{name} serverside-applied" for name in names
    ]
    summed = """jsonpath={.rules[?(@.verbs[0]=="use")].resources[0]}=networks"""
    real_kubectl("wait", "clusterrole/edit", f"--for={summed}", "--timeout=30s")

    network = "networks.networking.datumapis.com"
    for role, may, code in (("edit", "yes\n", 0), ("view", "no\n", 1)):
        real_kubectl("create", "rolebinding", role, f"--clusterrole={role}", f"--user={role}")
        asked = ("auth", "can-i", f"--as={role}")
        assert real_kubectl(*asked, "use", network, code=code).endswith(may)
        assert real_kubectl(*asked, "list", network).endswith("yes\n")


def example(path, namespace):
    """The text of an example for this namespace, and the name that kubectl knows it by."""
    manifest = yaml.safe_load(path.read_text())
    manifest["metadata"]["namespace"] = namespace
    return yaml.safe_dump(
        manifest
    ), f"workload.{Workload.RESOURCE.group}/{manifest['metadata']['name']}"


@pytest.mark.parametrize("path", EXAMPLES, ids=name_of)
def test_an_example_is_taken_as_it_is(real_kubectl, path):
    """Strict validation, applied or created, finds nothing to refuse and nothing to warn of."""
    text, name = example(path, real_kubectl.namespace)

    assert real_kubectl(*SERVER_SIDE, "-", text=text) == f"{name} serverside-applied\n"
    real_kubectl("delete", name)
    assert real_kubectl("create", "--validate=strict", "-f", "-", text=text) == f"{name} created\n"


@pytest.mark.parametrize("path", EXAMPLES, ids=name_of)
def test_an_example_applied_again_changes_nothing(real_kubectl, path):
    """What the server stores of an example does not differ from the example."""
    text, _ = example(path, real_kubectl.namespace)
    version = ("-o", "jsonpath={.metadata.resourceVersion} {.metadata.generation}")

    first = real_kubectl(*SERVER_SIDE, "-", *version, text=text)
    again = real_kubectl(*SERVER_SIDE, "-", *version, text=text)

    assert again == first


@pytest.mark.parametrize("kind", KINDS, ids=kind_name)
def test_a_kind_is_explained(real_kubectl, kind):
    """Explain shows the kind, with a description of it and of each of its parts."""
    resource = kind.RESOURCE
    explained = real_kubectl("explain", f"{resource.plural}.{resource.group}")

    assert re.search(rf"^KIND: +{resource.kind}$", explained, re.MULTILINE)
    assert re.search(rf"^VERSION: +{resource.version}$", explained, re.MULTILINE)
    assert "<empty>" not in explained
    assert "  spec\t<Object>" in explained


@pytest.mark.parametrize("kind", KINDS, ids=kind_name)
def test_a_kind_is_listed(real_kubectl, kind):
    """Get finds the kind by its full name; there is nothing yet in a new namespace."""
    resource = kind.RESOURCE
    listed = real_kubectl("get", f"{resource.plural}.{resource.version}.{resource.group}")

    scope = f" in {real_kubectl.namespace} namespace." if resource.namespaced else ""
    assert listed == f"No resources found{scope}\n"


def test_the_columns(real_kubectl):
    """Get prints the columns that our types name, and no others."""
    text, _ = example(EXAMPLES[0], real_kubectl.namespace)
    real_kubectl("create", "-f", "-", text=text)

    header = real_kubectl("get", "workloads").splitlines()[0]
    columns = [column.name for column in Workload.RESOURCE.columns if not column.wide]
    assert re.split(r"\s{2,}", header.strip()) == ["NAME", *(name.upper() for name in columns)]

"""The tree of manifests: every overlay and every component builds, and its parts fit together."""

import os
import re
import subprocess
import tomllib
from functools import cache
from pathlib import Path

import pytest
import yaml

from compute.app.manager.operator_config import load
from compute.app.manager.options import ManagerOptions, faults, parse_gates, parse_stand_ins
from compute.cli.operate.manager import command as manager
from compute.controllers.management.admission import webhooks
from kubekit.api.quantity import Quantity
from tests.e2e.conftest import needs_kubectl
from tools import dashboards

needs_kubectl()

pytestmark = pytest.mark.e2e

ROOT = Path(__file__).parents[2]
CONFIG = ROOT / "config"
OVERLAYS = sorted(path.name for path in (CONFIG / "overlays").iterdir())
RUNNING = [name for name in OVERLAYS if (CONFIG / "overlays" / name / "config.yaml").exists()]
RUNBOOKS = ROOT / "docs/operating/runbooks"
# Components that change what another one brings.
NEEDS = {"csi-webhook-cert": ["webhook"], "webhook-certificate": ["webhook"]}
SAMPLES = sorted(path.name for path in (CONFIG / "samples").iterdir())
COMPONENTS = sorted(
    str(path.parent.relative_to(CONFIG / "components"))
    for path in (CONFIG / "components").rglob("kustomization.yaml")
    if "kind: Component" in path.read_text()
)
# The series of Prometheus itself.
OTHERS = {"up"}


def build(folder):
    """The objects of a kustomization."""
    line = ["kubectl", "kustomize", str(folder)]
    done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "deprecated" not in done.stderr
    return [each for each in yaml.load_all(done.stdout, yaml.CSafeLoader) if each]


@cache
def overlay(name):
    return build(CONFIG / "overlays" / name)


def of(objects, *kinds):
    return [each for each in objects if each["kind"] in kinds]


def named(obj):
    return obj["kind"], obj["metadata"].get("namespace", ""), obj["metadata"]["name"]


def container(name):
    """The container of an overlay's manager."""
    (deployment,) = of(overlay(name), "Deployment")
    (only,) = deployment["spec"]["template"]["spec"]["containers"]
    return only


def environment(name):
    return {each["name"]: each.get("value") for each in container(name)["env"]}


@pytest.mark.parametrize("name", OVERLAYS)
def test_what_an_overlay_refers_to_is_in_it(name):
    """Accounts, roles and namespaces; a binding to nothing grants nothing, without an error."""
    objects = overlay(name)
    there = {named(each) for each in objects}
    wanted = set()
    for binding in of(objects, "ClusterRoleBinding", "RoleBinding"):
        role = binding["roleRef"]
        own = binding["metadata"].get("namespace", "")
        wanted.add((role["kind"], own if role["kind"] == "Role" else "", role["name"]))
        for subject in binding["subjects"]:
            if subject["kind"] == "ServiceAccount":
                wanted.add(("ServiceAccount", subject["namespace"], subject["name"]))
            else:
                namespace = subject["name"].removeprefix("system:serviceaccounts:")
                wanted.add(("Namespace", "", namespace))
    for deployment in of(objects, "Deployment"):
        spec = deployment["spec"]["template"]["spec"]
        wanted.add(("ServiceAccount", "compute-system", spec["serviceAccountName"]))
    wanted |= {("Namespace", "", each["metadata"].get("namespace", "")) for each in objects}
    assert sorted(wanted - there - {("Namespace", "", "")}) == []


@pytest.mark.parametrize("name", OVERLAYS)
def test_no_role_of_an_overlay_has_a_wildcard(name):
    """And nothing is left that an overlay has to set."""
    objects = overlay(name)
    for role in of(objects, "ClusterRole", "Role"):
        for rule in role["rules"]:
            parts = (rule["verbs"], rule.get("apiGroups", ()), rule.get("resources", ()))
            assert not any("*" in part for part in parts), named(role)
    assert "set-by-the-overlay" not in yaml.safe_dump_all(objects)


@pytest.mark.parametrize("name", RUNNING)
def test_a_manager_has_no_right_in_its_container(name):
    """Not root, no capability, nothing to write to but a small folder, and a limit of memory."""
    (deployment,) = of(overlay(name), "Deployment")
    spec, only = deployment["spec"]["template"]["spec"], container(name)
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert spec["securityContext"]["runAsUser"] == 65532
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert only["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert set(only["resources"]["requests"]) == {"cpu", "memory"}
    assert set(only["resources"]["limits"]) == {"memory"}
    writable = [each["name"] for each in only["volumeMounts"] if not each.get("readOnly")]
    assert writable == ["tmp"]


@pytest.mark.parametrize("name", RUNNING)
def test_w59_the_limit_of_memory_is_that_of_ten_thousand_instances(name):
    """A process at rest has 57 MB, and 30 KB for each Instance at most; a quarter is spare."""
    limit = container(name)["resources"]["limits"]["memory"]
    assert Quantity.parse(limit).value() >= 1.25 * (57e6 + 10_000 * 30e3)


@pytest.mark.parametrize("name", RUNNING)
def test_the_image_is_that_of_this_version(name):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert container(name)["image"] == f"compute-manager:{project['version']}"


@pytest.mark.parametrize("name", RUNNING)
def test_w60_ports_agree(name):
    """Those of the container, of its probes, Services, policies and addresses are the same."""
    objects, only = overlay(name), container(name)
    ports = {each["name"]: each["containerPort"] for each in only["ports"]}
    config = yaml.safe_load(_config(objects)["config.yaml"])
    assert environment(name)["HEALTH_PROBE_BIND_ADDRESS"] == f":{ports['probes']}"
    for probe in ("livenessProbe", "readinessProbe"):
        assert only[probe]["httpGet"]["port"] == "probes"
    assert config["metricsServer"]["bindAddress"] == f":{ports.get('metrics', 8443)}"
    assert ("webhookServer" in config) == ("webhook" in ports)
    if "webhookServer" in config:
        assert config["webhookServer"]["port"] == ports["webhook"]
    for service in of(objects, "Service"):
        (port,) = service["spec"]["ports"]
        assert port["targetPort"] in ports
    (policy,) = of(objects, "NetworkPolicy")
    allowed = {port["port"] for rule in policy["spec"]["ingress"] for port in rule["ports"]}
    assert allowed == {8081, 8443, 9443}
    assert set(ports.values()) <= allowed


@pytest.mark.parametrize("name", RUNNING)
def test_w58_the_manager_knows_every_variable_and_every_setting(name, tmp_path, monkeypatch):
    """Its options and its configuration are read as the program does, and fit together."""
    variables = {key: value for key, value in environment(name).items() if value}
    for key in [key for key in os.environ if key in {each.envvar for each in manager.params}]:
        monkeypatch.delenv(key)
    for key, value in variables.items():
        monkeypatch.setenv(key, value)
    known = {each.envvar for each in manager.params} | {"POD_NAME"}
    assert set(variables) <= known
    context = manager.make_context("manager", [])
    given = context.params
    options = ManagerOptions(
        management=given["management"],
        cell=given["cell"],
        provider=given["provider"],
        stand_ins=parse_stand_ins(given["stand_ins"]),
        federation_kubeconfig=given["federation_kubeconfig"],
        gates=parse_gates(given["feature_gates"]),
    )
    assert list(faults(options)) == []
    (tmp_path / "config.yaml").write_text(_config(overlay(name))["config.yaml"])
    assert load(tmp_path / "config.yaml").metrics_server.bind_address == ":8443"


@pytest.mark.parametrize("name", RUNNING)
def test_every_argument_has_its_variable_and_every_file_its_volume(name):
    """A variable without a value would be passed on as its own name."""
    only, variables = container(name), environment(name)
    for argument in only["args"]:
        (variable,) = re.findall(r"\$\((\w+)\)", argument)
        assert variables[variable]
        flag = argument.removeprefix("--").partition("=")[0]
        assert flag.upper().replace("-", "_") == variable
    mounts = [each["mountPath"] for each in only["volumeMounts"]]
    config = yaml.safe_load(_config(overlay(name))["config.yaml"])
    files = [*_paths(config), *(str(value) for value in variables.values())]
    for file in (each for each in files if each.startswith("/")):
        assert any(file == mount or file.startswith(f"{mount}/") for mount in mounts), file


def _config(objects):
    (stored,) = [
        each
        for each in of(objects, "ConfigMap")
        if each["metadata"]["name"].startswith("compute-manager-config-")
    ]
    return stored["data"]


def _paths(value):
    if isinstance(value, dict):
        return [path for each in value.values() for path in _paths(each)]
    return [value] if isinstance(value, str) else []


def test_w56_each_overlay_switches_on_what_its_cluster_runs():
    """What needs a hub has one, or is all of it in one cluster."""
    switched = {
        name: {
            key: value
            for key, value in environment(name).items()
            if key.startswith("ENABLE_") and value == "true"
        }
        for name in RUNNING
    }
    management, cell = "ENABLE_MANAGEMENT_CONTROLLERS", "ENABLE_CELL_CONTROLLERS"
    assert {name: set(keys) for name, keys in switched.items()} == {
        "cell": {cell},
        "management-plane": {management},
        "management-single": {management},
        "single-cluster": {management, cell},
    }
    for name in RUNNING:
        assert ("FEDERATION_KUBECONFIG" in environment(name)) == (len(switched[name]) == 1)


@pytest.mark.parametrize("name", ["management-plane", "dev"])
def test_webhooks_are_those_that_the_code_serves(name):
    """On its paths, at a Service that the certificate is for, with the authority put in."""
    objects = overlay(name)
    kinds = ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")
    configurations = of(objects, *kinds)
    hooks = [hook for each in configurations for hook in each["webhooks"]]
    services = [hook["clientConfig"]["service"] for hook in hooks]
    assert [service["path"] for service in services] == [webhooks.MUTATE, webhooks.VALIDATE]
    (certificate,) = of(objects, "Certificate")
    meta, spec = certificate["metadata"], certificate["spec"]
    for configuration, service in zip(configurations, services, strict=True):
        annotations = configuration["metadata"]["annotations"]
        wanted = f"{meta['namespace']}/{meta['name']}"
        assert annotations["cert-manager.io/inject-ca-from"] == wanted
        assert ("Service", service["namespace"], service["name"]) in map(named, objects)
        assert f"{service['name']}.{service['namespace']}.svc" in spec["dnsNames"]
    issuers = {named(each) for each in of(objects, "Issuer")}
    issuer = spec["issuerRef"]
    is_own = ("Issuer", meta["namespace"], issuer["name"]) in issuers
    assert issuer["kind"] == "ClusterIssuer" or is_own


def test_a_replica_that_ends_answers_the_webhooks_that_are_on_their_way():
    """An API server that does not know yet that it ends would refuse the user's Workload."""
    serving = [name for name in RUNNING if of(overlay(name), "ValidatingWebhookConfiguration")]
    for name in serving:
        (deployment,) = of(overlay(name), "Deployment")
        pause = container(name)["lifecycle"]["preStop"]["sleep"]["seconds"]
        assert 0 < pause < deployment["spec"]["template"]["spec"]["terminationGracePeriodSeconds"]
    assert serving


def test_namespaces_of_the_hub_stay_there():
    """Karmada would create each in every cell, and delete it there with that of the hub."""
    namespaces = of(overlay("hub"), "Namespace")
    assert {each["metadata"]["name"] for each in namespaces} == {"compute-cells", "compute-system"}
    for each in namespaces:
        assert each["metadata"]["labels"]["namespace.karmada.io/skip-auto-propagation"] == "true"


def test_the_hub_has_the_interpreter_and_keeps_cells_apart():
    kinds = {named(each) for each in overlay("hub")}
    assert ("ResourceInterpreterCustomization", "", "workloaddeployment") in kinds
    assert ("ValidatingAdmissionPolicyBinding", "", "compute-cells-own-instances") in kinds
    for name in ("project", "management-single"):
        projects = {named(each) for each in overlay(name)}
        assert ("ValidatingAdmissionPolicyBinding", "", "compute-cells-own-claims") in projects


@pytest.mark.parametrize("component", COMPONENTS)
def test_w57_every_component_builds(component, tmp_path):
    """With the manager alone, and with what it needs; also one that no overlay includes."""
    folders = [CONFIG / "components" / each for each in (*NEEDS.get(component, ()), component)]
    issuer = {"name": "webhook-issuer", "literals": ["kind=Issuer", "name=trial"]}
    content = {
        "resources": [os.path.relpath(CONFIG / "base/manager", tmp_path)],
        "components": [os.path.relpath(folder, tmp_path) for folder in folders],
        "configMapGenerator": [issuer],
    }
    (tmp_path / "kustomization.yaml").write_text(yaml.safe_dump(content))
    objects = build(tmp_path)
    assert "set-by-the-overlay" not in yaml.safe_dump_all(objects)
    (present,) = of(objects, "Deployment")
    changed = present != of(build(CONFIG / "base/manager"), "Deployment")[0]
    assert changed or len(objects) > 2 or component == "karmada-settings"


@pytest.mark.parametrize("name", SAMPLES)
def test_samples_are_valid(name):
    """Each object is of a kind that its overlay defines."""
    defined = {
        (each["spec"]["group"], each["spec"]["names"]["kind"])
        for each in of(overlay(name), "CustomResourceDefinition")
    }
    for each in build(CONFIG / "samples" / name):
        assert (each["apiVersion"].partition("/")[0], each["kind"]) in defined


def test_the_page_lists_every_overlay_and_component():
    page = (CONFIG / "README.md").read_text()
    for name in OVERLAYS:
        assert f"`overlays/{name}`" in page
    for name in {each.partition("/")[0] for each in COMPONENTS}:
        assert f"`{name}`" in page


def _alerts():
    text = (CONFIG / "components/alerts/prometheusrule.yaml").read_text()
    (group,) = yaml.safe_load(text)["spec"]["groups"]
    return group["rules"]


def test_every_alert_has_a_runbook_and_every_runbook_an_alert():
    """The index lists them all."""
    pages = {page.stem for page in RUNBOOKS.glob("*.md")} - {"README"}
    assert pages == {rule["alert"] for rule in _alerts()}
    index = (RUNBOOKS / "README.md").read_text()
    for rule in _alerts():
        assert (ROOT / rule["annotations"]["runbook_url"]).exists()
        assert f"]({rule['alert']}.md)" in index


def test_w61_alerts_ask_for_metrics_that_exist():
    """A metric that was renamed would silence its alert."""
    declared = {
        name
        for _, metrics in dashboards.declared()
        for metric in metrics
        for name in dashboards.names(metric)
    }
    for rule in _alerts():
        asked = set(re.findall(r"\b([a-z_]+)(?=\{|\[| ==| >|\))", rule["expr"]))
        series = {name for name in asked if name in OTHERS or "_" in name} - _functions(rule)
        assert series, rule["alert"]
        assert series | OTHERS <= declared | OTHERS, rule["alert"]


def _functions(rule):
    """Functions and labels in an expression, which are no series."""
    grouped = re.findall(r"(?:by|on) \(([^)]*)\)", rule["expr"])
    labels = {label.strip() for group in grouped for label in group.split(",")}
    return labels | {"histogram_quantile"}

"""The changes that a write makes, as phrases."""

from msgspec.structs import replace

from compute.api import annotations
from compute.api.compute import Workload
from compute.api.instance_spec import Container, NamedPort, Runtime, Sandbox
from compute.decide.workload_edits.change_phrases import phrases
from kubekit.api.kinds.value_sources import EnvVar
from kubekit.api.meta import with_metadata
from tests.support.compute.builders import placement, template, workload


def running(sandbox: Sandbox | None) -> Workload:
    made = template()
    runtime = Runtime(resources=made.spec.runtime.resources, sandbox=sandbox)
    return workload(template=replace(made, spec=replace(made.spec, runtime=runtime)))


def test_a_new_workload_is_described():
    """Values of variables may be secrets."""
    app = Container(
        name="app",
        image="web:1",
        env=(EnvVar(name="TOKEN", value="secret"), EnvVar(name="B")),
        ports=(NamedPort(name="http", port=80), NamedPort(name="dns", port=53, protocol="UDP")),
    )
    rest = ("instance type: datumcloud/d1-standard-2", "network: default")

    assert phrases(None, running(Sandbox(containers=(app,)))) == (
        "image: web:1",
        "ports: http 80/TCP, dns 53/UDP",
        "env: TOKEN, B (values not shown)",
        *rest,
    )
    assert phrases(None, running(None)) == ("virtual machine", *rest)
    both = Sandbox(containers=(app, Container(name="side", image="side:1")))
    assert "image of side: side:1" in phrases(None, running(both))


def test_changes_of_spec_labels_and_annotations():
    """Entries that controllers and other commands keep are not among them."""
    before = with_metadata(workload(), labels={"a": "1", "same": "1"})
    after = with_metadata(
        workload("web", placement(replicas=2)),
        labels={"b": "2", "same": "1"},
        annotations={annotations.MAX_UNAVAILABLE: "2", annotations.REVISION_NOTE: "{}"},
    )

    assert phrases(before, after) == (
        "min replicas: 1 → 2",
        "label a: 1 → none",
        "label b: none → 2",
        "annotation compute.datumapis.com/max-unavailable: none → 2",
    )

"""Specs without the values of their environment variables."""

from typing import Any

from msgspec.structs import replace

from compute.api.compute import WorkloadSpec
from compute.api.instance_spec import VirtualMachine, VolumeAttachment
from compute.views.masking import CHANGED, MASK, masked
from kubekit.api.kinds.value_sources import EnvVar, EnvVarSource, KeySelector
from tests.support.compute.builders import workload


def with_runtime(**changes: Any) -> WorkloadSpec:
    spec = workload().spec
    inner = spec.template.spec
    runtime = replace(inner.runtime, **changes)
    return replace(spec, template=replace(spec.template, spec=replace(inner, runtime=runtime)))


def with_variables(*variables: EnvVar) -> WorkloadSpec:
    sandbox = workload().spec.template.spec.runtime.sandbox
    assert sandbox is not None
    (container,) = sandbox.containers
    return with_runtime(sandbox=replace(sandbox, containers=(replace(container, env=variables),)))


def values(spec: WorkloadSpec) -> list[str]:
    sandbox = spec.template.spec.runtime.sandbox
    assert sandbox is not None
    return [variable.value for variable in sandbox.containers[0].env]


def test_values_are_masked():
    """An empty value is none, and a source names no value."""
    source = EnvVarSource(secret_key_ref=KeySelector(name="db", key="password"))
    spec = with_variables(
        EnvVar(name="A", value="secret"), EnvVar(name="B"), EnvVar(name="C", value_from=source)
    )

    assert values(masked(spec)) == [MASK, "", ""]
    assert "secret'" not in str(masked(spec))


def test_a_changed_value_is_marked():
    """A new variable is no changed one."""
    before = with_variables(EnvVar(name="A", value="1"), EnvVar(name="B", value="1"))
    after = with_variables(
        EnvVar(name="A", value="1"), EnvVar(name="B", value="2"), EnvVar(name="C", value="3")
    )

    assert values(masked(after, before)) == [MASK, CHANGED, MASK]


def test_a_virtual_machine_has_no_variables():
    """It stays as it is, also in a comparison."""
    machine = VirtualMachine(volume_attachments=(VolumeAttachment(name="boot"),))
    spec = with_runtime(sandbox=None, virtual_machine=machine)

    assert masked(spec) is spec
    assert masked(with_variables(EnvVar(name="A", value="1")), spec) is not spec

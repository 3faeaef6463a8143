"""Which Workloads use values, and which need a restart to read new ones."""

import msgspec

from compute.decide.overrides import pinned
from compute.decide.value_references import UseKind, users
from kubekit.api.kinds.core import ConfigMap, Secret
from kubekit.api.kinds.value_sources import EnvVar
from tests.support.compute.builders import workload
from tests.support.compute.store_builders import files, using, variable


def found(kind, name, *workloads, changed=()):
    return [
        (user.workload, user.uses, user.needs_restart)
        for user in users(kind, name, workloads, changed)
    ]


def test_variables_volumes_and_pulls_are_uses():
    """By name of the Workload; each kind of use once."""
    web = workload(
        "web", template=using(variable("db", "A", secret=True), files("db", secret=True))
    )
    api = workload("api", template=using(variable("db", "A", secret=True), pull="db"))
    other = workload("other", template=using(variable("db", "A")))

    assert found(Secret, "db", web, api, other) == [
        ("api", (UseKind.VARIABLE, UseKind.IMAGE_PULL), False),
        ("web", (UseKind.VARIABLE, UseKind.FILES), False),
    ]
    assert found(ConfigMap, "db", web, api, other) == [("other", (UseKind.VARIABLE,), False)]


def test_only_keys_that_are_read_need_a_restart():
    """A variable reads one key, a volume those that it lists, or all."""
    one = workload("one", template=using(variable("settings", "A")))
    all_ = workload("all", template=using(files("settings")))
    some = workload("some", template=using(files("settings", "B")))

    def restarts(*keys):
        found = users(ConfigMap, "settings", [one, all_, some], keys)
        return [user.workload for user in found if user.needs_restart]

    assert restarts("A") == ["all", "one"]
    assert restarts("B") == ["all", "some"]
    assert restarts() == []


def test_an_image_pull_needs_no_restart():
    """The Secret is read for each pull."""
    web = workload("web", template=using(pull="registry"))

    assert found(Secret, "registry", web, changed=["auth"]) == [
        ("web", (UseKind.IMAGE_PULL,), False)
    ]


def test_a_city_with_another_template_counts():
    """A pinned city still uses what the Workload itself no longer names."""
    web = pinned(workload("web"), {"DFW": (3, using(variable("old", "A")))})

    assert found(ConfigMap, "old", web, changed=["A"]) == [("web", (UseKind.VARIABLE,), True)]


def test_a_virtual_machine_has_volumes_only():
    """It has no containers with variables."""
    base = using(files("settings"))
    runtime = msgspec.structs.replace(base.spec.runtime, sandbox=None)
    machine = msgspec.structs.replace(
        base, spec=msgspec.structs.replace(base.spec, runtime=runtime)
    )

    assert found(ConfigMap, "settings", workload("vm", template=machine)) == [
        ("vm", (UseKind.FILES,), False)
    ]
    assert found(Secret, "settings", workload("vm", template=machine)) == []


def test_plain_variables_are_no_uses():
    """A value in the template comes from nowhere else."""
    assert found(Secret, "db", workload("web", template=using(EnvVar(name="A", value="1")))) == []

"""A project's deployment is copied to the hub, and the copy is kept in sync."""

import msgspec

from compute.api import annotations, labels, names
from compute.api.compute import WorkloadDeployment
from compute.api.karmada import PropagationPolicy
from compute.controllers.management.federator import controller as federator
from kubekit.api.kinds.core import Namespace
from kubekit.api.meta import ObjectMeta
from kubekit.runtime.requests import cluster_name
from tests.support.compute.builders import condition
from tests.support.compute.federation_builders import PROJECT, original, with_meta
from tests.support.compute.management_builders import (
    WEB,
    ManagementWorld,
    held,
    hub_namespace_of,
    set_up,
    upstream,
)

HUB_NAMESPACE = annotations.FEDERATION_NAMESPACE
AVAILABLE = condition("Available", "True", "StableInstanceFound")


def test_a_deployment_reaches_the_hub(tmp_path):
    """Its namespace, its copy with the labels that select a cell, and its city's policy are created."""

    async def story(on: ManagementWorld) -> None:
        on.start(federator.controllers)
        sent = await on.deploy()
        copy = await on.copy()
        hub_namespace = await on.stage.client("hub").get(Namespace, on.hub_namespace)
        expected_labels = upstream() | {
            labels.TOPOLOGY_CITY_CODE: "DFW",
            labels.WORKLOAD_UID: "uid-web",
        }

        assert (copy.metadata.labels, copy.spec) == (expected_labels, sent.spec)
        assert hub_namespace.metadata.labels.items() >= upstream().items()
        await on.stage.named("hub", PropagationPolicy, "city-dfw", on.hub_namespace)
        await on.reported((WEB, "Normal", "Federated"))
        await on.stage.rest()
        assert await on.stage.quiet() == []

    set_up(tmp_path, story)


def test_it_has_annotation_and_finalizer_before_the_copy_is_written(tmp_path):
    """The annotation and the finalizer are one write, before anything is created on the hub."""

    async def story(on: ManagementWorld) -> None:
        on.start(federator.controllers)
        await on.deploy()
        await on.copy()
        noted = await on.project(held)

        assert noted.metadata.annotations == {HUB_NAMESPACE: on.hub_namespace}
        shop = [n for n, write in enumerate(on.stage.writes) if write[0] == "shop"]
        hub = [n for n, write in enumerate(on.stage.writes) if write[0] == "hub"]
        key = f"default/{WEB}"
        written = [n for n in shop if on.stage.writes[n][2].endswith(key)]
        made = [n for n in hub if on.hub_namespace in on.stage.writes[n][2]]
        assert len(written) == 2
        assert written[1] < made[0]

    set_up(tmp_path, story)


def test_a_change_reaches_the_hub(tmp_path):
    """The spec is copied unchanged."""

    async def story(on: ManagementWorld) -> None:
        on.start(federator.controllers)
        await on.deploy()
        await on.copy()
        sent = await on.project(held)
        scale = msgspec.structs.replace(sent.spec.scale_settings, min_replicas=7)
        spec = msgspec.structs.replace(sent.spec, scale_settings=scale)
        await on.stage.client("shop").patch(sent, msgspec.structs.replace(sent, spec=spec))

        await on.copy(lambda copy: copy.spec == spec)

    set_up(tmp_path, story)


def test_w19_what_the_cell_must_obey_travels_and_so_does_its_absence(tmp_path):
    """An error in referenced data is copied to the hub; once it is fixed it is removed there too."""
    reserved = {annotations.REFERENCED_DATA_ERROR: "{}", annotations.SUSPENDED: "true"}

    async def story(on: ManagementWorld) -> None:
        on.start(federator.controllers)
        sent = await on.deploy(annotations=reserved | {"team": "blue"})
        copy = await on.copy()
        assert copy.metadata.annotations == reserved
        await on.change("hub", copy, annotations=reserved | {"karmada": "x"})
        await on.project(held)
        await on.change("shop", sent, annotations={HUB_NAMESPACE: on.hub_namespace})

        await on.copy(lambda c: c.metadata.annotations == {"karmada": "x"})

    set_up(tmp_path, story)


def test_w22_two_spellings_of_a_city_have_a_policy_each(tmp_path):
    """Cells are selected by the exact label, so LAX and lax are two cities and never share a policy."""

    async def story(on: ManagementWorld) -> None:
        on.start(federator.controllers)
        await on.deploy("a-home-lax", "LAX")
        await on.deploy("b-home-lax", "lax")

        for city in ("LAX", "lax"):
            policy = await on.stage.named(
                "hub", PropagationPolicy, names.policy(city), on.hub_namespace
            )
            (selector,) = policy.spec.resource_selectors
            assert selector.label_selector is not None
            assert selector.label_selector.match_labels == {labels.TOPOLOGY_CITY_CODE: city}
        await on.stage.rest()
        assert await on.stage.quiet() == []

    set_up(tmp_path, story)


def test_another_city_gets_its_policy_too(tmp_path):
    """A deployment that moves to another city gets that city's policy."""

    async def story(on: ManagementWorld) -> None:
        on.start(federator.controllers)
        await on.deploy()
        await on.copy()
        sent = await on.project(held)
        spec = msgspec.structs.replace(sent.spec, city_code="LHR")
        await on.stage.client("shop").patch(sent, msgspec.structs.replace(sent, spec=spec))

        await on.stage.named("hub", PropagationPolicy, "city-lhr", on.hub_namespace)
        assert (await on.copy()).metadata.labels[labels.TOPOLOGY_CITY_CODE] == "LHR"

    set_up(tmp_path, story)


def test_a_copy_that_is_changed_on_the_hub_is_restored(tmp_path):
    """Labels of ours on the copy and on the namespace are repaired; those of others stay."""

    async def story(on: ManagementWorld) -> None:
        on.start(federator.controllers)
        await on.deploy()
        copy = await on.copy()
        hub_namespace = await on.stage.client("hub").get(Namespace, on.hub_namespace)
        wrong = {labels.TOPOLOGY_CITY_CODE: "XXX", "team": "blue"}
        await on.change("hub", copy, labels=copy.metadata.labels | wrong)
        await on.change("hub", hub_namespace, labels={"team": "blue"})

        right = copy.metadata.labels | {"team": "blue"}
        await on.copy(lambda c: c.metadata.labels == right)
        repaired = {"team": "blue"} | upstream()
        await on.stage.named(
            "hub",
            Namespace,
            on.hub_namespace,
            "",
            lambda n: n.metadata.labels.items() >= repaired.items(),
        )

    set_up(tmp_path, story)


def test_a_copy_that_is_deleted_on_the_hub_is_created_again(tmp_path):
    """The copy alone, or the whole namespace with it."""

    async def story(on: ManagementWorld) -> None:
        on.start(federator.controllers)
        await on.deploy()
        first = await on.copy()
        await on.stage.client("hub").delete(first)
        second = await on.copy(lambda c: c.metadata.uid != first.metadata.uid)
        await on.stage.client("hub").delete(
            await on.stage.client("hub").get(Namespace, on.hub_namespace)
        )

        await on.copy(lambda c: c.metadata.uid not in (first.metadata.uid, second.metadata.uid))

    set_up(tmp_path, story)


def test_an_edit_of_the_annotation_is_reverted(tmp_path):
    """The federator restores its annotation and finalizer."""

    async def story(on: ManagementWorld) -> None:
        on.start(federator.controllers)
        sent = await on.deploy()
        await on.copy()
        await on.project(held)
        await on.change("shop", sent, annotations={HUB_NAMESPACE: "elsewhere"}, finalizers=())

        repaired = await on.project(held)
        assert repaired.metadata.annotations == {HUB_NAMESPACE: on.hub_namespace}

    set_up(tmp_path, story)


def test_a_city_that_cannot_be_a_label_is_refused(tmp_path):
    """The wrong field is reported to the user, and nothing is written to the hub."""

    async def story(on: ManagementWorld) -> None:
        on.start(federator.controllers)
        await on.deploy(city="San José")

        seen = await on.project(lambda d: d.status.conditions)
        (available,) = seen.status.conditions
        assert (available.status, available.reason) == ("False", "NoCellForCity")
        assert "spec.cityCode 'San José'" in available.message
        await on.reported((WEB, "Warning", "NoCellForCity"), ("web", "Warning", "CityStuck"))
        assert await on.stage.client("hub").find(Namespace, on.hub_namespace) is None
        assert await on.stage.quiet() == []

    set_up(tmp_path, story)


def test_a_project_that_cannot_be_a_label_is_refused(tmp_path):
    """A name too long for a label could never be decoded."""
    name = "p" * 60

    async def story(on: ManagementWorld) -> None:
        on.start(federator.controllers)
        await on.stage.engage("projects", name)
        await hub_namespace_of(on.stage, name)
        made = with_meta(original(), uid="", generation=0)
        await on.stage.client(name).create(made)

        seen = await on.stage.named(
            name, WorkloadDeployment, WEB, true=lambda d: d.status.conditions
        )
        assert "longer than" in seen.status.conditions[0].message

    set_up(tmp_path, story)


def test_two_projects_are_kept_apart(tmp_path):
    """Deployments of one name in two projects have their own copy and status."""

    async def story(on: ManagementWorld) -> None:
        on.start(federator.controllers)
        await on.stage.engage("projects", "blog")
        hub_namespace = await hub_namespace_of(on.stage, "blog")
        await on.deploy()
        made = with_meta(original(), uid="", generation=0)
        await on.stage.client("blog").create(made)
        await on.stage.named("hub", WorkloadDeployment, WEB, hub_namespace)
        await on.report(AVAILABLE, ready_replicas=5)

        await on.project(lambda d: d.status.ready_replicas == 5)
        await on.stage.rest()
        other = await on.stage.client("blog").get(WorkloadDeployment, WEB, "default")
        assert other.status.ready_replicas == 0

    set_up(tmp_path, story)


def test_a_report_for_a_project_that_is_not_engaged_is_not_lost(tmp_path):
    """The hub reports it once; the project is reconciled all the same when it is engaged."""

    async def story(on: ManagementWorld) -> None:
        on.start(federator.controllers)
        await on.deploy()
        await on.copy()
        await on.stage.rest()
        await on.planes.projects.disengage(cluster_name(PROJECT))
        await on.report(AVAILABLE, ready_replicas=5)
        await on.stage.rest()
        assert (await on.project()).status.ready_replicas == 0
        await on.stage.engage("projects", PROJECT)

        await on.project(lambda d: d.status.ready_replicas == 5)

    set_up(tmp_path, story)


def test_a_hub_that_was_unreachable_is_brought_up_to_date(tmp_path):
    """Nothing is lost while the hub is unreachable, neither a deployment nor a status."""

    async def story(on: ManagementWorld) -> None:
        on.start(federator.controllers)
        await on.deploy()
        await on.copy()
        await on.stage.rest()
        on.hub.cut()
        await on.deploy("api-home-dfw")
        await on.report(AVAILABLE, ready_replicas=5)
        await on.stage.rest(120)
        assert (await on.project()).status.ready_replicas == 0
        on.hub.heal()

        await on.copy(name="api-home-dfw")
        await on.project(lambda d: d.status.ready_replicas == 5)

    set_up(tmp_path, story)


def test_two_federators_reach_the_same_state(tmp_path):
    """Neither spoils what the other does, and one event is written."""

    async def story(on: ManagementWorld) -> None:
        on.start(federator.controllers, copies=2)
        for city in ("DFW", "LHR", "SIN"):
            await on.deploy(f"web-home-{city.lower()}", city)
        for city in ("DFW", "LHR", "SIN"):
            await on.copy(name=f"web-home-{city.lower()}")
        await on.report(AVAILABLE, ready_replicas=5)

        await on.project(lambda d: d.status.ready_replicas == 5)
        await on.stage.rest()
        assert await on.stage.quiet() == []
        cities = ("dfw", "lhr", "sin")
        federated = ((f"web-home-{city}", "Normal", "Federated") for city in cities)
        available = ((name, "Normal", "CityAvailable") for name in (WEB, "web"))
        await on.reported(*federated, *available)

    set_up(tmp_path, story)


def test_a_restart_writes_nothing(tmp_path):
    """A federator that starts with nothing to do writes nothing."""

    async def story(on: ManagementWorld) -> None:
        on.start(federator.controllers)
        await on.deploy()
        await on.report(AVAILABLE, ready_replicas=5)
        await on.project(lambda d: d.status.ready_replicas == 5)
        await on.stage.rest()
        before = len(on.stage.writes)
        await on.leave("projects", "hub")
        await on.stage.engage("projects", PROJECT)  # before the hub is there
        await on.stage.rest()
        await on.stage.engage("hub", "hub")
        await on.stage.rest()

        assert on.stage.writes[before:] == []

    set_up(tmp_path, story)


def test_a_copy_in_a_terminating_namespace_is_waited_for(tmp_path):
    """A hub namespace that is deleting is created again once it is gone."""

    async def story(on: ManagementWorld) -> None:
        hub = on.stage.client("hub")
        held_up = ObjectMeta(
            name=on.hub_namespace, labels=upstream(), finalizers=("example.com/slow",)
        )
        hub_namespace = await hub.create(Namespace(metadata=held_up))
        await hub.delete(hub_namespace)
        on.start(federator.controllers)
        await on.deploy()
        await on.stage.rest()
        assert await hub.find(WorkloadDeployment, WEB, on.hub_namespace) is None
        await on.change("hub", hub_namespace, finalizers=())

        await on.copy()

    set_up(tmp_path, story)


def test_w25_events_and_metrics_report_it(tmp_path):
    """Each step writes an event on the deployment, and each reconcile pass is counted."""

    async def story(on: ManagementWorld) -> None:
        on.start(federator.controllers)
        await on.deploy()
        await on.reported((WEB, "Normal", "Federated"))

        text = on.stage.factory.metrics.text().decode()
        counted = 'controller_runtime_reconcile_total{controller="federator",result="success"}'
        assert float(text.partition(counted)[2].split()[0]) >= 1

    set_up(tmp_path, story)

"""From Workloads to deployments, and their health back."""

import asyncio

import pytest

from compute.api import annotations, finalizers, labels, names
from compute.api.compute import Workload, WorkloadDeployment, WorkloadStatus
from compute.app.links import Link, linked_client
from kubekit.api.errors import Forbidden
from kubekit.api.kinds.core import ConfigMap
from kubekit.plane.registry.admission import Attempt
from kubekit.runtime.requests import cluster_name
from tests.support.compute.builders import placement, template
from tests.support.compute.federation_builders import with_meta
from tests.support.compute.workload_builders import (
    BOTH,
    PROJECT,
    availability,
    available,
    changed,
    controllers,
    deployment_names,
    fresh,
    reports,
    run_story,
    stray,
)
from tests.support.kubekit.stage import Stage

NEWER = template("registry.test/web:2")


def test_a_deployment_is_created_for_each_placement_and_city(tmp_path):
    """With the Workload's template and scale, owned by it."""

    async def story(stage: Stage) -> None:
        made = await stage.client(PROJECT).create(fresh(BOTH))
        deployment = await stage.named(PROJECT, WorkloadDeployment, "web-home-lhr")
        assert await deployment_names(stage) == ["web-home-dfw", "web-home-lhr"]
        assert deployment.spec.template == made.spec.template
        assert deployment.spec.city_code == "LHR"
        assert deployment.spec.scale_settings.min_replicas == 2
        assert deployment.metadata.labels == {labels.WORKLOAD_UID: made.metadata.uid}
        assert [o.uid for o in deployment.metadata.owner_references] == [made.metadata.uid]
        held = await stage.seen(PROJECT, made)
        assert held.metadata.finalizers == (finalizers.WORKLOAD,)

    run_story(tmp_path, story)


def test_the_health_of_the_deployments_is_summed_up(tmp_path):
    """The Workload's status follows each report of a cell at once."""

    async def story(stage: Stage) -> None:
        made = await stage.client(PROJECT).create(fresh(BOTH))
        await stage.seen(PROJECT, made, lambda w: w.status.deployments == 2)
        await reports(stage, "web-home-dfw", ready=2)
        await reports(stage, "web-home-lhr", ready=1)
        seen = await stage.seen(PROJECT, made, lambda w: w.status.ready_replicas == 3, seconds=0.1)
        assert available(seen)
        assert seen.status.desired_replicas == 4
        assert seen.status.observed_generation == seen.metadata.generation
        assert [p.ready_replicas for p in seen.status.placements] == [3]

    run_story(tmp_path, story)


def test_many_cities_that_report_at_once_are_summed_up_together(tmp_path):
    """A status write for each would cost the square of their number."""
    cities = [f"C{number:02}" for number in range(20)]

    async def story(stage: Stage) -> None:
        made = await stage.client(PROJECT).create(fresh(placement("home", *cities, replicas=2)))
        await stage.seen(PROJECT, made, lambda w: w.status.deployments == 20)
        await stage.rest()
        before = len(stage.writes)
        for city in cities:
            await reports(stage, f"web-home-{city.lower()}", ready=2)
        await stage.seen(PROJECT, made, lambda w: w.status.ready_replicas == 40, seconds=0.2)
        sums = [kind for _, kind, _ in stage.writes[before:] if kind.endswith("/workloads")]
        assert len(sums) <= 3

    run_story(tmp_path, story, *cities)


def test_w1_at_rest_nothing_is_written(tmp_path):
    """Not even if another client keeps changing what does not matter here."""

    async def story(stage: Stage) -> None:
        await stage.client(PROJECT).create(fresh(BOTH))
        await stage.named(PROJECT, WorkloadDeployment, "web-home-lhr")
        await reports(stage, "web-home-dfw", ready=2)
        await stage.rest()
        assert await stage.quiet() == []
        noted = {"metadata": {"annotations": {"team": "blue"}}}
        await changed(stage, WorkloadDeployment, "web-home-dfw", noted)
        before = len(stage.writes)
        await stage.rest()
        assert len(stage.writes) == before

    run_story(tmp_path, story)


@pytest.mark.parametrize("reason", ["ImageUnavailable", "InstanceCrashing", "ConfigurationError"])
def test_w5_what_blocks_an_instance_is_reported_by_the_workload(tmp_path, reason):
    """With the message of the cell, and not as progressing."""

    async def story(stage: Stage) -> None:
        made = await stage.client(PROJECT).create(fresh(placement("home", "DFW")))
        await stage.named(PROJECT, WorkloadDeployment, "web-home-dfw")
        await reports(stage, "web-home-dfw", ready=0, reason=reason, message="app: no such tag")
        seen = await stage.seen(PROJECT, made, lambda w: availability(w)[1] == reason)
        assert availability(seen)[0] == "False"
        assert "app: no such tag" in availability(seen)[2]

    run_story(tmp_path, story)


def test_a_cell_that_is_about_to_report_is_not_reported_as_missing(tmp_path):
    """The first status of a Workload has what its cells say; without them it says so after a moment."""

    async def story(stage: Stage) -> None:
        await stage.client(PROJECT).create(fresh(placement("home", "DFW")))
        await stage.named(PROJECT, WorkloadDeployment, "web-home-dfw")
        await stage.quiet(1.0)
        early = await stage.client(PROJECT).get(Workload, "web", "default")
        assert early.status == WorkloadStatus()
        await stage.quiet(2.0)
        late = await stage.client(PROJECT).get(Workload, "web", "default")
        assert "its cell has not reported yet" in availability(late)[2]

    run_story(tmp_path, story)


def test_w45_names_fit_into_labels(tmp_path):
    """However long the names are that they consist of."""

    async def story(stage: Stage) -> None:
        place = placement("p" * 60, "DFW", "LHR")
        await stage.client(PROJECT).create(fresh(place, name="w" * 60))
        got = await stage.until(lambda: deployment_names(stage))
        assert len(set(got)) == 2
        assert all(len(names.instance(name, 9_999)) <= 63 for name in got)

    run_story(tmp_path, story)


def test_a_change_is_written_to_every_city(tmp_path):
    """Template and scale, in one write each."""

    async def story(stage: Stage) -> None:
        await stage.client(PROJECT).create(fresh(BOTH))
        await stage.named(PROJECT, WorkloadDeployment, "web-home-lhr")
        await stage.rest()
        more = placement("home", "DFW", "LHR", replicas=5)
        before = len(stage.writes)
        await changed(stage, Workload, "web", {"spec": {"template": NEWER, "placements": [more]}})
        await stage.rest()
        for name in ("web-home-dfw", "web-home-lhr"):
            got = await stage.named(PROJECT, WorkloadDeployment, name)
            assert got.spec.template == NEWER
            assert got.spec.scale_settings.min_replicas == 5
        written = [key for _, _, key in stage.writes[before:] if "web-home" in key]
        assert len(written) == 2

    run_story(tmp_path, story)


def test_trap_annotations_of_other_clients_stay(tmp_path):
    """Replacing their keys once made two controllers write against each other indefinitely."""

    async def story(stage: Stage) -> None:
        await stage.client(PROJECT).create(fresh(BOTH))
        await stage.named(PROJECT, WorkloadDeployment, "web-home-dfw")
        theirs = {"annotations": {"x": "1"}, "labels": {"y": "2"}, "finalizers": ["z.test/held"]}
        await changed(stage, WorkloadDeployment, "web-home-dfw", {"metadata": theirs})
        await changed(stage, Workload, "web", {"spec": {"template": NEWER}})
        got = await stage.named(
            PROJECT, WorkloadDeployment, "web-home-dfw", true=lambda d: d.spec.template == NEWER
        )
        assert got.metadata.annotations["x"] == "1"
        assert got.metadata.labels["y"] == "2"
        assert got.metadata.finalizers == ("z.test/held",)

    run_story(tmp_path, story)


def test_a_placement_that_is_removed_is_cleared(tmp_path):
    """Its deployment is deleted, and counted while it exists."""

    async def story(stage: Stage) -> None:
        made = await stage.client(PROJECT).create(fresh(BOTH))
        await stage.seen(PROJECT, made, lambda w: w.status.deployments == 2)
        held = {"metadata": {"finalizers": ["z.test/held"]}}
        await changed(stage, WorkloadDeployment, "web-home-lhr", held)
        less = {"spec": {"placements": [placement("home", "DFW", replicas=2)]}}
        await changed(stage, Workload, "web", less)
        await stage.named(PROJECT, WorkloadDeployment, "web-home-lhr", true=lambda d: d.deleting)
        await stage.rest()
        assert (await stage.seen(PROJECT, made)).status.deployments == 2
        await changed(stage, WorkloadDeployment, "web-home-lhr", {"metadata": {"finalizers": None}})
        await stage.seen(PROJECT, made, lambda w: w.status.deployments == 1)
        assert await deployment_names(stage) == ["web-home-dfw"]

    run_story(tmp_path, story)


def test_a_pause_holds_templates_back_and_numbers_not(tmp_path):
    """And the status says so, until the Workload is resumed."""

    async def story(stage: Stage) -> None:
        made = await stage.client(PROJECT).create(fresh(BOTH))
        await stage.named(PROJECT, WorkloadDeployment, "web-home-dfw")
        paused = {"annotations": {annotations.PAUSED: "true"}}
        more = placement("home", "DFW", "LHR", replicas=5)
        spec = {"template": NEWER, "placements": [more]}
        await changed(stage, Workload, "web", {"metadata": paused, "spec": spec})
        got = await stage.named(
            PROJECT,
            WorkloadDeployment,
            "web-home-dfw",
            true=lambda d: d.spec.scale_settings.min_replicas == 5,
        )
        assert got.spec.template != NEWER
        assert got.metadata.annotations[annotations.PAUSED] == "true"
        seen = await stage.seen(PROJECT, made, lambda w: "held back" in availability(w)[2])
        assert [c.type for c in seen.status.conditions if c.reason == "Paused"] == ["Paused"]

        resumed = {"annotations": {annotations.PAUSED: None}}
        await changed(stage, Workload, "web", {"metadata": resumed})
        got = await stage.named(
            PROJECT, WorkloadDeployment, "web-home-dfw", true=lambda d: d.spec.template == NEWER
        )
        assert annotations.PAUSED not in got.metadata.annotations
        await stage.seen(PROJECT, made, lambda w: "held back" not in availability(w)[2])

    run_story(tmp_path, story)


@pytest.mark.parametrize(
    "edit",
    [
        {"spec": {"template": NEWER}},
        {"metadata": {"ownerReferences": None}},
        {"metadata": {"labels": None}},
    ],
    ids=["spec", "owner", "labels"],
)
def test_an_edit_of_a_deployment_is_reverted(tmp_path, edit):
    """The Workload determines its deployments."""

    async def story(stage: Stage) -> None:
        await stage.client(PROJECT).create(fresh(BOTH))
        await stage.named(PROJECT, WorkloadDeployment, "web-home-dfw")
        await stage.rest()
        before = await stage.named(PROJECT, WorkloadDeployment, "web-home-dfw")
        await changed(stage, WorkloadDeployment, "web-home-dfw", edit)
        await stage.rest()
        after = await stage.named(PROJECT, WorkloadDeployment, "web-home-dfw")
        assert after.spec == before.spec
        assert after.metadata.labels == before.metadata.labels
        assert after.metadata.owner_references == before.metadata.owner_references

    run_story(tmp_path, story)


def test_a_deleted_deployment_is_created_again(tmp_path):
    """Once it is gone."""

    async def story(stage: Stage) -> None:
        await stage.client(PROJECT).create(fresh(BOTH))
        first = await stage.named(PROJECT, WorkloadDeployment, "web-home-dfw")
        await stage.client(PROJECT).delete(first)
        uid = first.metadata.uid
        await stage.named(
            PROJECT, WorkloadDeployment, "web-home-dfw", true=lambda d: d.metadata.uid != uid
        )

    run_story(tmp_path, story)


def test_a_name_that_is_taken_is_reported_and_waited_for(tmp_path):
    """Objects of other owners are not changed, and the other deployments are created meanwhile."""

    async def story(stage: Stage) -> None:
        client = stage.client(PROJECT)
        theirs = await client.create(stray("web-home-dfw"))
        made = await client.create(fresh(BOTH))
        seen = await stage.seen(PROJECT, made, lambda w: w.status.deployments == 1)
        assert availability(seen)[1] == "DeploymentNameTaken"
        assert "web-home-dfw" in availability(seen)[2]
        assert await stage.seen(PROJECT, theirs) == theirs
        await client.delete(theirs)
        await stage.seen(PROJECT, made, lambda w: w.status.deployments == 2)

    run_story(tmp_path, story)


def test_a_workload_that_only_the_cache_has_creates_nothing(tmp_path):
    """Before anything is created, its owner is read live."""

    async def story(stage: Stage) -> None:
        await stage.rest()
        ghost = with_meta(fresh(BOTH, name="ghost"), uid="g", finalizers=(finalizers.WORKLOAD,))
        stage.role("projects").sole().informers.of(Workload).cache.put(ghost)
        await stage.client(PROJECT).create(stray("ghost-home-nrt"))
        await stage.rest()
        assert await deployment_names(stage) == ["ghost-home-nrt"]
        assert (await stage.client(PROJECT).list(ConfigMap, "default")).items == ()

    run_story(tmp_path, story)


def test_a_deployment_that_names_no_workload_has_no_owner(tmp_path):
    """An empty uid belongs to no Workload."""

    async def story(stage: Stage) -> None:
        unowned = await stage.client(PROJECT).create(stray("web-home-nrt", uid=""))
        made = await stage.client(PROJECT).create(fresh(BOTH))
        await stage.seen(PROJECT, made, lambda w: w.status.deployments == 2)
        await stage.client(PROJECT).delete(await stage.seen(PROJECT, made))
        await stage.gone(PROJECT, Workload, "web", "default")
        assert await stage.seen(PROJECT, unowned) == unowned

    run_story(tmp_path, story)


def test_a_deployment_that_is_refused_blocks_no_other(tmp_path):
    """The others are created and reported, and the refused one is retried."""

    async def story(stage: Stage) -> None:
        def refuse(attempt: Attempt) -> None:
            if attempt.name == "web-home-dfw" and attempt.verb == "create":
                raise Forbidden("not here")

        judges = stage.planes[PROJECT].registry.admission.validating
        judges.append(refuse)
        made = await stage.client(PROJECT).create(fresh(BOTH))
        await stage.seen(PROJECT, made, lambda w: w.status.deployments == 1)
        assert await deployment_names(stage) == ["web-home-lhr"]
        judges.remove(refuse)
        await stage.seen(PROJECT, made, lambda w: w.status.deployments == 2, seconds=600)

    run_story(tmp_path, story)


def test_a_refusal_among_many_is_retried_with_back_off(tmp_path):
    """A large number of deployments does not reset the back-off."""

    async def story(stage: Stage) -> None:
        tries = []

        def refuse(attempt: Attempt) -> None:
            if attempt.name == "web-p0-dfw" and attempt.verb == "create":
                tries.append(attempt)
                raise Forbidden("not here")

        stage.planes[PROJECT].registry.admission.validating.append(refuse)
        places = [placement(f"p{number}", "DFW", "LHR") for number in range(10)]
        made = await stage.client(PROJECT).create(fresh(*places))
        await stage.seen(PROJECT, made, lambda w: w.status.deployments == 19)
        await asyncio.sleep(60)

        assert 2 < len(tries) < 40

    run_story(tmp_path, story)


def test_two_replicas_reach_the_same_end(tmp_path):
    """Correctness does not depend on leader election."""

    async def story(stage: Stage) -> None:
        stage.start(*controllers(stage))
        made = await stage.client(PROJECT).create(fresh(BOTH))
        await stage.seen(PROJECT, made, lambda w: w.status.deployments == 2)
        await changed(stage, Workload, "web", {"spec": {"template": NEWER}})
        await stage.rest()
        for name in await deployment_names(stage):
            got = await stage.named(PROJECT, WorkloadDeployment, name)
            assert got.spec.template == NEWER
        assert await stage.quiet() == []
        await stage.client(PROJECT).delete(await stage.seen(PROJECT, made))
        await stage.gone(PROJECT, Workload, "web", "default")
        assert await deployment_names(stage) == []

    run_story(tmp_path, story)


def test_a_project_that_was_unreachable_is_reconciled_again(tmp_path):
    """Changes of that time are seen once it is reachable."""

    async def story(stage: Stage) -> None:
        link = Link("shop")
        linked = linked_client(stage.planes[PROJECT], "compute", link)
        await stage.role("projects").engage(cluster_name(PROJECT), linked)
        await stage.client(PROJECT).create(fresh(BOTH))
        await stage.named(PROJECT, WorkloadDeployment, "web-home-lhr")
        link.cut()
        await changed(stage, Workload, "web", {"spec": {"template": NEWER}})
        await stage.rest(120.0)
        assert (await stage.named(PROJECT, WorkloadDeployment, "web-home-dfw")).spec.template != (
            NEWER
        )
        link.heal()
        await stage.named(
            PROJECT,
            WorkloadDeployment,
            "web-home-dfw",
            true=lambda d: d.spec.template == NEWER,
            seconds=600,
        )

    run_story(tmp_path, story)


def test_workloads_of_two_projects_are_kept_apart(tmp_path):
    """Even where they have the same name."""

    async def story(stage: Stage) -> None:
        await stage.engage("projects", "other")
        await stage.client("other").create(fresh(BOTH))
        seen = await stage.named("other", Workload, "web", true=lambda w: w.status.placements)
        assert "cities not offered to this project: DFW, LHR" in availability(seen)[2]
        await stage.client(PROJECT).create(fresh(BOTH))
        await stage.named(PROJECT, WorkloadDeployment, "web-home-dfw")
        assert (await stage.client("other").list(WorkloadDeployment)).items == ()

    run_story(tmp_path, story)

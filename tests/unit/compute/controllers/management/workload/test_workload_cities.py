"""A Workload and the cities that its project is offered."""

from datetime import timedelta

from compute.api.compute import WorkloadDeployment
from compute.api.networking import LocationBinding
from compute.decide.deployment.drains import Grace
from kubekit.client.client import Client, K, Listing
from kubekit.client.options import EVERYTHING, ListOptions
from kubekit.client.reading import UnreadableObject
from kubekit.plane.local import LocalTransport
from kubekit.plane.registry.kinds import Kinds
from kubekit.runtime.requests import cluster_name
from tests.support.compute.builders import placement
from tests.support.compute.workload_builders import (
    BOTH,
    PROJECT,
    availability,
    binding,
    deployment_names,
    fresh,
    network,
    reports,
    run_story,
)
from tests.support.kubekit import stage as stages
from tests.support.kubekit.stage import Stage


def test_w6_a_city_that_is_not_offered_is_reported(tmp_path):
    """What can be placed is placed, and the rest follows when the city is offered."""

    async def story(stage: Stage) -> None:
        made = await stage.client(PROJECT).create(fresh(placement("home", "DFW", "NRT")))
        seen = await stage.seen(PROJECT, made, lambda w: w.status.deployments == 1)
        assert "cities not offered to this project: NRT" in availability(seen)[2]
        await reports(stage, "web-home-dfw", ready=1)
        seen = await stage.seen(PROJECT, made, lambda w: w.status.ready_replicas == 1)
        assert availability(seen)[0] == "True"
        assert "cities not offered to this project: NRT" in availability(seen)[2]
        await stage.client(PROJECT).create(binding("NRT"))
        seen = await stage.seen(PROJECT, made, lambda w: w.status.deployments == 2, seconds=0.1)
        assert "not offered" not in availability(seen)[2]

    run_story(tmp_path, story)


def test_w6_no_city_at_all_is_a_condition(tmp_path):
    """And no error: the offer may still arrive."""

    async def story(stage: Stage) -> None:
        await stage.client(PROJECT).delete(await stage.seen(PROJECT, binding("DFW")))
        made = await stage.client(PROJECT).create(fresh(BOTH))
        seen = await stage.seen(PROJECT, made, lambda w: w.status.conditions)
        assert availability(seen)[:2] == ("False", "NoMatchingLocations")
        assert "DFW, LHR" in availability(seen)[2]
        await stage.rest()
        assert await stage.quiet() == []
        await stage.client(PROJECT).create(binding("DFW"))
        await stage.named(PROJECT, WorkloadDeployment, "web-home-dfw", seconds=0.1)

    run_story(tmp_path, story, "DFW")


def test_a_city_that_is_withdrawn_is_cleared_after_the_grace(tmp_path):
    """The grace period is a setting. While others are still offered it is no mistake."""

    async def story(stage: Stage) -> None:
        made = await stage.client(PROJECT).create(fresh(BOTH))
        await stage.seen(PROJECT, made, lambda w: w.status.deployments == 2)
        await stage.client(PROJECT).delete(await stage.seen(PROJECT, binding("LHR")))
        await stage.rest()
        assert await deployment_names(stage) == ["web-home-dfw", "web-home-lhr"]
        seen = await stage.seen(PROJECT, made, lambda w: w.status.deployments == 1, seconds=60.0)
        assert await deployment_names(stage) == ["web-home-dfw"]
        assert "LHR" in availability(seen)[2]

    run_story(tmp_path, story, grace=Grace(withdrawal=timedelta(seconds=60)))


class _Newer(Client):
    """A project with a LocationBinding of a newer release, which cannot be read."""

    async def list(
        self, kind: type[K], namespace: str = "", options: ListOptions = EVERYTHING
    ) -> Listing[K]:
        listed = await super().list(kind, namespace, options)
        if kind is not LocationBinding:
            return listed
        bad = (UnreadableObject("", "lhr", "new"),)
        return Listing(listed.items, listed.resource_version, unreadable=bad)


def test_a_binding_that_cannot_be_read_withdraws_no_city(tmp_path):
    """Any of the project's cities may be the one that it offers."""

    async def story(stage: Stage) -> None:
        newer = _Newer(LocalTransport(stage.planes[PROJECT]))
        await stage.role("projects").engage(cluster_name(PROJECT), newer)
        made = await stage.client(PROJECT).create(fresh(BOTH))
        await stage.seen(PROJECT, made, lambda w: w.status.deployments == 2)
        await stage.client(PROJECT).delete(await stage.seen(PROJECT, binding("LHR")))
        await stage.quiet(600.0)
        seen = await stage.seen(PROJECT, made)
        assert seen.status.deployments == 2
        assert "no longer offered" not in availability(seen)[2]

    run_story(tmp_path, story)


def test_an_offer_that_vanished_as_a_whole_stops_nothing(tmp_path):
    """That is far more often a neighbour that lost its data."""

    async def story(stage: Stage) -> None:
        made = await stage.client(PROJECT).create(fresh(BOTH))
        await stage.seen(PROJECT, made, lambda w: w.status.deployments == 2)
        await stage.client(PROJECT).delete(await stage.seen(PROJECT, binding("DFW")))
        await stage.client(PROJECT).delete(await stage.seen(PROJECT, binding("LHR")))
        await stage.quiet(600.0)
        assert await deployment_names(stage) == ["web-home-dfw", "web-home-lhr"]
        await stage.client(PROJECT).create(binding("LHR"))
        await stage.quiet(600.0)
        assert await deployment_names(stage) == ["web-home-lhr"]
        await stage.client(PROJECT).delete(await stage.seen(PROJECT, binding("LHR")))
        await stage.quiet(600.0)
        assert await deployment_names(stage) == ["web-home-lhr"]

    run_story(tmp_path, story)


def test_a_cache_that_lost_a_city_removes_nothing(tmp_path):
    """Before a deployment is deleted because its city is gone, the offer is read live."""

    async def story(stage: Stage) -> None:
        made = await stage.client(PROJECT).create(fresh(BOTH))
        await stage.seen(PROJECT, made, lambda w: w.status.deployments == 2)
        await stage.rest()
        bindings = stage.role("projects").sole().informers.of(LocationBinding).cache
        bindings.drop("", "lab-lhr")
        await reports(stage, "web-home-dfw", ready=1)
        await stage.seen(PROJECT, made, lambda w: w.status.ready_replicas == 1)
        assert await deployment_names(stage) == ["web-home-dfw", "web-home-lhr"]

    run_story(tmp_path, story)


def test_a_binding_without_a_city_offers_none(tmp_path):
    """An empty code is no city, and such an offer is no offer."""

    async def story(stage: Stage) -> None:
        made = await stage.client(PROJECT).create(fresh(BOTH))
        seen = await stage.seen(PROJECT, made, lambda w: w.status.conditions)
        assert availability(seen)[1] == "NoMatchingLocations"

    run_story(
        tmp_path, story, neighbours=[network(), *(binding(c, city="") for c in ("DFW", "LHR"))]
    )


def test_a_project_that_does_not_serve_locations_offers_nothing(tmp_path, monkeypatch):
    """A kind that is not served has no objects, live and in the cache."""
    kinds = Kinds(tuple(k for k in stages.every_kind() if k.resource.kind != "LocationBinding"))
    monkeypatch.setattr(stages, "every_kind", lambda: kinds)

    async def story(stage: Stage) -> None:
        made = await stage.client(PROJECT).create(fresh(BOTH))
        seen = await stage.seen(PROJECT, made, lambda w: w.status.conditions)
        assert availability(seen)[1] == "NoMatchingLocations"

    run_story(tmp_path, story, neighbours=[network()])

"""The hub's namespaces, in every cell."""

import msgspec
import pytest

from compute.api import labels
from compute.api.compute import WorkloadDeployment
from compute.api.karmada_work import Work
from compute.federation.namespaces import is_synced
from kubekit.api.kinds.core import Namespace
from kubekit.api.meta import ObjectMeta
from tests.support.compute.engine_builders import (
    NS,
    WD,
    arrived,
    change,
    condition_of,
    engage,
    member,
    remove,
    run_story,
    send,
    settle,
)
from tests.support.compute.federation_builders import with_meta
from tests.support.kubekit.stage import Stage


def named(name: str, **labels: str) -> Namespace:
    return Namespace(metadata=ObjectMeta(name=name, labels=labels))


@pytest.mark.parametrize("copies", [1, 2], ids=["once", "twice"])
def test_every_cell_gets_the_namespace_with_its_labels(tmp_path, copies):
    """Labels name the project, so they are sent too, and updated when they change."""

    async def story(stage: Stage) -> None:
        for cell in ("dfw", "lhr"):
            await stage.named(
                cell, Namespace, NS, "", lambda ns: ns.metadata.labels["of"] == "shop"
            )

        def sold(ns: Namespace) -> Namespace:
            return with_meta(ns, labels=ns.metadata.labels | {"of": "bank"})

        await change(stage, "hub", named(NS), sold)
        for cell in ("dfw", "lhr"):
            await stage.named(
                cell, Namespace, NS, "", lambda ns: ns.metadata.labels["of"] == "bank"
            )
        await settle(stage)
        assert await stage.quiet() == []

    run_story(tmp_path, story, "dfw", "lhr", copies=copies)


@pytest.mark.parametrize("name", ["default", "kube-system", "karmada-system", "karmada-es-dfw"])
def test_the_hubs_own_namespaces_stay_there(name):
    """What the hub needs for itself is no cell's business."""
    assert not is_synced(name)


def test_a_namespace_that_says_so_stays_on_the_hub(tmp_path):
    """A label keeps a namespace from cells."""

    async def story(stage: Stage) -> None:
        skipped = ObjectMeta(
            name="own", labels={"namespace.karmada.io/skip-auto-propagation": "true"}
        )
        await stage.client("hub").create(Namespace(metadata=skipped))
        await stage.client("hub").create(named("other"))
        await stage.named("dfw", Namespace, "other", "")
        await settle(stage)
        assert await stage.client("dfw").find(Namespace, "own") is None

    run_story(tmp_path, story)


def test_a_namespace_of_leases_can_be_deleted_on_the_hub_alone(tmp_path):
    """The cell has a namespace of that name for its own lease: it is not the hub's to delete."""

    async def story(stage: Stage) -> None:
        metadata = ObjectMeta(name="compute-system", labels={labels.SKIP_PROPAGATION: "true"})
        kept = await stage.client("dfw").create(named("compute-system"))
        await stage.client("hub").create(Namespace(metadata=metadata))
        await settle(stage)
        await remove(stage, "hub", named("compute-system"))
        await stage.gone("hub", Namespace, "compute-system")
        await settle(stage)
        present = await stage.client("dfw").get(Namespace, "compute-system")
        assert present.metadata.resource_version == kept.metadata.resource_version

    run_story(tmp_path, story)


def test_a_cell_that_joins_gets_every_namespace(tmp_path):
    """Namespaces that were there before the cell go there too."""

    async def story(stage: Stage) -> None:
        await engage(stage, "lhr")
        await stage.client("hub").create(member("lhr", "LHR"))
        await stage.named("lhr", Namespace, NS, "")

    run_story(tmp_path, story)


def test_a_namespace_that_goes_goes_everywhere(tmp_path):
    """With everything in it."""

    async def story(stage: Stage) -> None:
        await send(stage)
        await arrived(stage)
        await remove(stage, "hub", named(NS))
        await stage.gone("hub", Namespace, NS)
        await stage.gone("dfw", Namespace, NS)
        await settle(stage)
        assert (await stage.client("hub").every(Work)).items == ()
        assert await stage.quiet() == []

    run_story(tmp_path, story)


def test_a_namespace_that_was_deleted_in_a_cell_comes_back_with_its_objects(tmp_path):
    """What the hub has, the cell has again."""

    async def story(stage: Stage) -> None:
        await send(stage)
        first = await arrived(stage)
        await remove(stage, "dfw", named(NS))
        await stage.named(
            "dfw", WorkloadDeployment, WD, NS, lambda wd: wd.metadata.uid != first.metadata.uid
        )

    run_story(tmp_path, story)


def test_a_namespace_of_the_cells_own_is_left_alone(tmp_path):
    """Neither its labels nor its life are the hub's."""

    async def story(stage: Stage) -> None:
        await stage.client("dfw").create(named("tools", whose="cell"))
        made = await stage.client("hub").create(named("tools", whose="hub"))
        await settle(stage)
        works = (await stage.client("hub").every(Work)).items
        said = [condition_of(w, "Applied") for w in works]
        assert any("the hub did not make" in each.message for each in said)
        await stage.client("hub").delete(made)
        await stage.gone("hub", Namespace, "tools")
        await settle(stage)
        theirs = await stage.client("dfw").get(Namespace, "tools")
        assert theirs.metadata.labels["whose"] == "cell"

    run_story(tmp_path, story)


def test_a_work_with_a_kind_that_is_not_sent_says_so(tmp_path):
    """A user's Work with a ServiceAccount in it is refused by name, and can be deleted."""

    async def story(stage: Stage) -> None:
        hub = stage.client("hub")
        (work,) = (await hub.every(Work)).items
        odd = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "a"}}
        workload = msgspec.structs.replace(work.spec.workload, manifests=(odd,))
        made = await hub.create(
            Work(
                metadata=ObjectMeta(
                    name="odd",
                    namespace="karmada-es-dfw",
                    finalizers=work.metadata.finalizers,
                ),
                spec=msgspec.structs.replace(work.spec, workload=workload),
            )
        )
        refused = await stage.named(
            "hub", Work, "odd", "karmada-es-dfw", lambda w: w.status.conditions
        )
        applied = condition_of(refused, "Applied")
        assert applied.message == "ServiceAccount is not a kind that is sent to cells"
        await remove(stage, "hub", made)
        await stage.gone("hub", Work, "odd", "karmada-es-dfw", 1.0)

    run_story(tmp_path, story)

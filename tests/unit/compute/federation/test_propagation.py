"""From an object on the hub to its copy in one cell."""

import msgspec
import pytest
from hypothesis import given, strategies as st

from compute.api import names
from compute.api.compute import WorkloadDeployment
from compute.api.karmada_work import ResourceBinding, Work
from compute.decide.conditions import find
from compute.decide.federation.policies import policy
from kubekit.api.kinds.core import ConfigMap, Namespace, Secret
from kubekit.api.meta import ObjectMeta, OwnerReference
from tests.support.compute.engine_builders import (
    NS,
    WD,
    arrived,
    change,
    condition_of,
    of_kinds,
    remove,
    report,
    run_story,
    scaled,
    send,
    sent,
    settle,
    work,
)
from tests.support.compute.federation_builders import with_meta
from tests.support.kubekit.stage import Stage

MARKS = {
    "propagationpolicy.karmada.io/name": "city-dfw",
    "propagationpolicy.karmada.io/namespace": NS,
    "resourcebinding.karmada.io/name": "web-home-dfw-workloaddeployment",
    "resourcebinding.karmada.io/namespace": NS,
    "work.karmada.io/namespace": "karmada-es-dfw",
    "work.karmada.io/conflict-resolution": "abort",
    "resourcetemplate.karmada.io/generation": "1",
}
IDS = (
    "propagationpolicy.karmada.io/permanent-id",
    "resourcebinding.karmada.io/permanent-id",
    "work.karmada.io/permanent-id",
)


@pytest.mark.parametrize("copies", [1, 2], ids=["once", "twice"])
def test_a_deployment_reaches_the_cell_of_its_city(tmp_path, copies):
    """What a policy selects is bound, placed and copied, and then nothing more is written."""

    async def story(stage: Stage) -> None:
        made = await send(stage)
        copy = await arrived(stage)
        assert copy.spec == made.spec
        await report(stage)
        await settle(stage)
        assert await stage.quiet() == []

    run_story(tmp_path, story, copies=copies)


def test_a_copy_carries_the_marks_that_karmada_writes(tmp_path):
    """Eleven annotations and four labels, by which everything is found again."""

    async def story(stage: Stage) -> None:
        made = await send(stage)
        copy = (await arrived(stage)).metadata
        assert copy.annotations.items() >= MARKS.items()
        assert copy.annotations["resourcetemplate.karmada.io/uid"] == made.metadata.uid
        assert copy.annotations["work.karmada.io/name"] == (await work(stage)).metadata.name
        assert len(copy.annotations) == 11
        assert len(copy.labels) == len(made.metadata.labels) + 4
        assert copy.labels["karmada.io/managed"] == "true"
        assert all(copy.labels[key] for key in IDS)

    run_story(tmp_path, story)


def test_what_is_the_hubs_alone_stays_there(tmp_path):
    """Uid, owners, finalizers and status do not travel; labels and annotations do."""
    owner = OwnerReference(api_version="v1", kind="ConfigMap", name="x", uid="")

    async def story(stage: Stage) -> None:
        hub = stage.client("hub")
        x = await hub.create(ConfigMap(metadata=ObjectMeta(name="x", namespace=NS)))
        made = with_meta(
            sent(),
            finalizers=("example.com/held",),
            owner_references=(msgspec.structs.replace(owner, uid=x.metadata.uid),),
            annotations={
                "note": "kept",
                "kubectl.kubernetes.io/last-applied-configuration": "{}",
            },
        )
        await hub.create(made)
        await hub.create(policy("DFW", NS))
        copy = (await arrived(stage)).metadata
        assert (copy.finalizers, copy.owner_references) == ((), ())
        assert copy.annotations["note"] == "kept"
        assert "kubectl.kubernetes.io/last-applied-configuration" not in copy.annotations

    run_story(tmp_path, story)


def test_w38_what_is_scaled_on_the_hub_is_scaled_in_the_cell(tmp_path):
    """Nothing of the spec is the cell's to keep."""

    async def story(stage: Stage) -> None:
        await send(stage)
        await arrived(stage)
        await change(stage, "hub", sent(), lambda wd: scaled(wd, 5))
        await stage.named(
            "dfw",
            WorkloadDeployment,
            WD,
            NS,
            lambda wd: wd.spec.scale_settings.min_replicas == 5,
            1.0,
        )

    run_story(tmp_path, story)


def test_an_edit_in_the_cell_is_undone(tmp_path):
    """The spec of a copy is the hub's."""

    async def story(stage: Stage) -> None:
        await send(stage)
        await arrived(stage)
        await change(stage, "dfw", sent(), lambda wd: scaled(wd, 9))
        await settle(stage)
        assert (await arrived(stage)).spec.scale_settings.min_replicas == 1

    run_story(tmp_path, story)


def test_a_copy_that_was_deleted_in_the_cell_is_made_anew(tmp_path):
    """The hub says what is there."""

    async def story(stage: Stage) -> None:
        await send(stage)
        first = await arrived(stage)
        await remove(stage, "dfw", first)
        await settle(stage)
        assert (await arrived(stage)).metadata.uid != first.metadata.uid

    run_story(tmp_path, story)


def test_labels_of_the_hub_go_and_labels_of_the_cell_stay(tmp_path):
    """A key that is taken off on the hub is taken off in the cell; one that the cell added is not."""

    async def story(stage: Stage) -> None:
        hub = stage.client("hub")
        both = {"old": "1"}
        await hub.create(with_meta(sent(), annotations=both, labels=sent().metadata.labels | both))
        await hub.create(policy("DFW", NS))
        await arrived(stage)

        def own(wd: WorkloadDeployment) -> WorkloadDeployment:
            meta = wd.metadata
            return with_meta(
                wd,
                labels=meta.labels | {"own": "1"},
                annotations=meta.annotations | {"own": "1"},
                finalizers=("example.com/own",),
            )

        def bare(wd: WorkloadDeployment) -> WorkloadDeployment:
            kept = ({k: v for k, v in m.items() if k != "old"} for m in maps(wd))
            labels, annotations = kept
            return with_meta(wd, labels=labels, annotations=annotations)

        def maps(wd: WorkloadDeployment) -> tuple[dict[str, str], dict[str, str]]:
            return wd.metadata.labels, wd.metadata.annotations

        await change(stage, "dfw", sent(), own)
        await change(stage, "hub", sent(), bare)
        await settle(stage)
        copy = await arrived(stage)
        assert [(m.get("old"), m.get("own")) for m in maps(copy)] == [(None, "1")] * 2
        assert copy.metadata.finalizers == ("example.com/own",)

    run_story(tmp_path, story)


def test_settings_and_secrets_are_sent_too(tmp_path):
    """Any kind that a policy selects and the engine knows is sent."""

    async def story(stage: Stage) -> None:
        hub = stage.client("hub")
        place = ObjectMeta(name="conf", namespace=NS)
        await hub.create(ConfigMap(metadata=place, data={"a": "1"}))
        await hub.create(Secret(metadata=place, data={"b": "Yg=="}))
        await hub.create(of_kinds(ConfigMap, Secret))
        await stage.named("dfw", ConfigMap, "conf", NS, lambda it: it.data == {"a": "1"})
        await stage.named("dfw", Secret, "conf", NS, lambda it: it.data == {"b": "Yg=="})
        await change(
            stage,
            "hub",
            ConfigMap(metadata=place),
            lambda it: msgspec.structs.replace(it, data={"a": "2"}),
        )
        await stage.named("dfw", ConfigMap, "conf", NS, lambda it: it.data == {"a": "2"})
        await settle(stage)
        assert await stage.quiet() == []

    run_story(tmp_path, story)


async def applied(stage: Stage, kind: str = "ConfigMap", status: str = "False") -> str:
    """What the Work of ``conf`` says of being applied, once it has this status."""

    async def message() -> str:
        for each in (await stage.client("hub").every(Work)).items:
            said = find(each.status.conditions, "Applied")
            if each.spec.workload.manifests[0]["kind"] == kind and said and said.status == status:
                return said.message
        return ""

    return await stage.until(message)


def test_an_object_that_the_hub_did_not_make_is_never_taken_over(tmp_path):
    """The hub says that the name is taken, and sends its own once it is free."""

    async def story(stage: Stage) -> None:
        hub, place = stage.client("hub"), ObjectMeta(name="conf", namespace=NS)
        await stage.named("dfw", Namespace, NS, "")
        theirs = ConfigMap(metadata=place, data={"whose": "theirs"})
        await stage.client("dfw").create(theirs)
        await hub.create(ConfigMap(metadata=place, data={"whose": "ours"}))
        await hub.create(of_kinds(ConfigMap))
        assert "the hub did not make" in await applied(stage)
        await settle(stage)
        assert await stage.quiet() == []
        assert (await stage.client("dfw").get(ConfigMap, "conf", NS)).data == theirs.data
        await remove(stage, "dfw", theirs)
        await stage.named("dfw", ConfigMap, "conf", NS, lambda it: it.data == {"whose": "ours"}, 1)
        await applied(stage, status="True")

    run_story(tmp_path, story)


def test_an_object_that_the_hub_did_not_make_is_overwritten_if_the_policy_says_so(tmp_path):
    """A policy may take over what is there."""

    async def story(stage: Stage) -> None:
        hub, place = stage.client("hub"), ObjectMeta(name="conf", namespace=NS)
        await stage.named("dfw", Namespace, NS, "")
        await stage.client("dfw").create(ConfigMap(metadata=place, data={"whose": "theirs"}))
        await hub.create(ConfigMap(metadata=place, data={"whose": "ours"}))
        await hub.create(of_kinds(ConfigMap, conflict_resolution="Overwrite"))
        await stage.named("dfw", ConfigMap, "conf", NS, lambda it: it.data == {"whose": "ours"})

    run_story(tmp_path, story)


def test_a_refusal_of_the_cell_is_reported_on_the_hub(tmp_path):
    """A refusal is reported, and is not retried indefinitely."""

    async def story(stage: Stage) -> None:
        hub, place = stage.client("hub"), ObjectMeta(name="conf", namespace=NS)
        made = await hub.create(ConfigMap(metadata=place, data={"a": "1"}))
        await hub.create(of_kinds(ConfigMap))
        await stage.named("dfw", ConfigMap, "conf", NS)
        frozen = await stage.client("dfw").get(ConfigMap, "conf", NS)
        stuck = msgspec.structs.replace(frozen, immutable=True, data={"a": "2"})
        await stage.client("dfw").patch(frozen, stuck)
        assert "the cell refuses it" in await applied(stage)
        binding = await hub.get(ResourceBinding, "conf-configmap", NS)
        fully = condition_of(binding, "FullyApplied")
        assert (fully.status, fully.message) == ("False", "not in dfw")
        assert binding.status.aggregated_status[0].applied is False
        await settle(stage)
        assert await stage.quiet() == []
        await remove(stage, "dfw", made)
        await stage.named("dfw", ConfigMap, "conf", NS, lambda it: it.data == {"a": "1"})

    run_story(tmp_path, story)


@given(st.lists(st.tuples(*[st.text("ab-.", min_size=1, max_size=70)] * 3), unique=True))
def test_works_of_different_objects_have_different_names(objects):
    """All namespaces meet in that of a cluster's Works."""
    made = [names.work(*each) for each in objects]
    assert len(dict.fromkeys(made)) == len(objects)
    assert all(len(name) <= names.LABEL_LIMIT for name in made)

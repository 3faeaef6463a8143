"""Admission of Workloads."""

import json
from typing import Any

import msgspec
import pytest

from compute.api import annotations
from compute.api.resource_manager import Project, ProjectOwnerRef, ProjectSpec
from compute.controllers.management.admission.workload_admission import (
    WorkloadAdmission,
    completed,
    defaults,
    project_of,
)
from compute.decide.deployment.template import unstamped_hash
from kubekit.api.errors import Forbidden, Invalid, Unavailable
from kubekit.api.kinds.authentication import UserInfo
from kubekit.api.kinds.rbac import PolicyRule, Role, RoleBinding, RoleRef, Subject
from kubekit.api.meta import ObjectMeta
from kubekit.client.transport import Document
from kubekit.plane.local import RecordClient
from kubekit.plane.registry.kinds import Kinds
from kubekit.runtime.requests import cluster_name
from tests.support.compute.review_recorder import ReviewRecorder
from tests.support.compute.validation_builders import ABSENT, changed, decoded, machine, sandbox
from tests.support.compute.workload_builders import PROJECT, Story, binding, network
from tests.support.kubekit import stage as stages
from tests.support.kubekit.stage import Stage, staged

ANN = UserInfo(username="ann")
IMAGE = "spec/template/spec/runtime/sandbox/containers/0/image"
CITIES = "spec/placements/0/cityCodes"
NAME = "spec/placements/0/name"
SCALE = "spec/placements/0/scaleSettings"
NETWORK = "spec/template/spec/networkInterfaces/0/network"
PAUSED = "compute.datumapis.com/paused"


def judged(tmp_path, story: Story) -> None:
    """Run a story in a project that offers DFW, where ann may use every network of default."""

    async def whole(stage: Stage) -> None:
        client = stage.client(PROJECT, "admin")
        await client.create(binding("DFW"))
        rule = PolicyRule(
            verbs=("use",), api_groups=("networking.datumapis.com",), resources=("networks",)
        )
        named = ObjectMeta(name="users", namespace="default")
        await client.create(Role(metadata=named, rules=(rule,)))
        subject = Subject(kind="User", api_group="rbac.authorization.k8s.io", name="ann")
        role = RoleRef(kind="Role", name="users")
        await client.create(RoleBinding(metadata=named, subjects=(subject,), role_ref=role))
        await story(stage)

    staged(tmp_path, whole, ("projects", PROJECT))


def admission_of(stage: Stage) -> WorkloadAdmission:
    return WorkloadAdmission(stage.role("projects"))


async def asked(
    stage: Stage,
    new: Document | None,
    old: Document | None = None,
    user: UserInfo = ANN,
    project: str = PROJECT,
) -> tuple[str, ...]:
    verb = "CREATE" if old is None else "UPDATE"
    return await admission_of(stage).review(verb, new, old, user, project)


async def refused(stage: Stage, new: Document, old: Document | None = None, **more: Any) -> str:
    """Why it is refused, as the user reads it."""
    with pytest.raises(Invalid) as refusal:
        await asked(stage, new, old, **more)
    return refusal.value.message


@pytest.mark.parametrize("document", [sandbox(), machine()], ids=["sandbox", "machine"])
def test_a_valid_workload_is_admitted(tmp_path, document):
    """Without a warning."""

    async def story(stage: Stage) -> None:
        assert await asked(stage, document) == ()

    judged(tmp_path, story)


def test_a_city_must_be_offered_to_the_project(tmp_path):
    """The offered cities are those of the project's LocationBindings, read live."""

    async def story(stage: Stage) -> None:
        why = await refused(stage, sandbox({CITIES: ["DFW", "LHR"]}))
        assert 'spec.placements[0].cityCodes[1]: Unsupported value: "LHR"' in why
        await stage.client(PROJECT).create(binding("LHR"))
        assert await asked(stage, sandbox({CITIES: ["DFW", "LHR"]})) == ()

    judged(tmp_path, story)


def test_no_workload_is_admitted_into_a_deleting_project(tmp_path):
    """As in a namespace; existing Workloads may still change, and other projects are not affected."""

    async def story(stage: Stage) -> None:
        await stage.engage("core", "core")
        core = stage.client("core")
        for name, held in ((PROJECT, ("example.com/held",)), ("other", ())):
            owner = ProjectOwnerRef(kind="Organization", name="acme")
            meta = ObjectMeta(name=name, finalizers=held)
            await core.create(Project(metadata=meta, spec=ProjectSpec(owner_ref=owner)))
        gate = WorkloadAdmission(stage.role("projects"), stage.role("core"))
        assert await gate.review("CREATE", sandbox(), None, ANN, PROJECT) == ()
        await core.delete(await core.get(Project, PROJECT))
        await stage.rest()
        with pytest.raises(Forbidden, match="is being deleted since 2026-01-01T00:00:00Z"):
            await gate.review("CREATE", sandbox(), None, ANN, PROJECT)
        scaled = sandbox({SCALE: {"minReplicas": 2}})
        assert await gate.review("UPDATE", scaled, sandbox(), ANN, PROJECT) == ()

    judged(tmp_path, story)


@pytest.mark.parametrize(
    ("changes", "blamed"),
    [
        ({IMAGE: ""}, "containers[0].image"),
        ({SCALE: {"minReplicas": 0}}, "minReplicas"),
        ({CITIES: ["XXX"]}, "cityCodes[0]"),
        ({"spec/placements": []}, "spec.placements"),
    ],
)
def test_w52_an_update_is_held_to_the_rules(tmp_path, changes, blamed):
    """A change cannot bring about what could not be created."""

    async def story(stage: Stage) -> None:
        assert blamed in await refused(stage, sandbox(changes), sandbox())

    judged(tmp_path, story)


def test_w53_the_most_is_not_less_than_the_least(tmp_path):
    """Neither in a new Workload nor in a changed one."""

    async def story(stage: Stage) -> None:
        metrics = [{"resource": {"name": "cpu", "target": {"averageUtilization": 50}}}]
        scale = {"minReplicas": 3, "maxReplicas": 2, "metrics": metrics}
        assert "maxReplicas" in await refused(stage, sandbox({SCALE: scale}))
        assert "maxReplicas" in await refused(stage, sandbox({SCALE: scale}), sandbox())

    judged(tmp_path, story)


def test_w54_a_placement_has_a_name_of_its_own(tmp_path):
    """Two of one name would be one deployment."""

    async def story(stage: Stage) -> None:
        twice = sandbox({"spec/placements": sandbox()["spec"]["placements"] * 2})
        assert "spec.placements[1].name: Duplicate value" in await refused(stage, twice)

    judged(tmp_path, story)


def test_w45_a_name_that_is_no_label_is_refused(tmp_path):
    """The names of all objects created from it are label values too."""

    async def story(stage: Stage) -> None:
        assert "metadata.name" in await refused(stage, sandbox({"metadata/name": "w" * 64}))

    judged(tmp_path, story)


def test_all_faults_are_reported_at_once(tmp_path):
    """With the field of each as a cause that programs can read."""

    async def story(stage: Stage) -> None:
        with pytest.raises(Invalid) as refusal:
            await asked(stage, sandbox({CITIES: ["XXX"], NAME: "Not a name", IMAGE: ""}))
        details = refusal.value.details
        assert details is not None
        assert (details.kind, details.name, len(details.causes)) == ("Workload", "web", 3)

    judged(tmp_path, story)


def test_a_user_needs_permission_to_use_a_network(tmp_path):
    """In the namespace of the network that is attached."""

    async def story(stage: Stage) -> None:
        why = await refused(stage, sandbox(), user=UserInfo(username="bob"))
        assert "spec.template.spec.networkInterfaces[0].network: Forbidden" in why
        assert "bob may not use the network default/default" in why
        elsewhere = sandbox({NETWORK: {"name": "default", "namespace": "others"}})
        assert "network others/default" in await refused(stage, elsewhere)

    judged(tmp_path, story)


def test_a_user_who_changes_the_spec_needs_permission_too(tmp_path):
    """The new image would send traffic through the network. Another annotation sends none."""

    async def story(stage: Stage) -> None:
        bob = UserInfo(username="bob")
        await refused(stage, sandbox({IMAGE: "registry.test/web:2"}), sandbox(), user=bob)
        noted = sandbox({"metadata/annotations": {"team": "blue"}})
        assert await asked(stage, noted, sandbox(), user=bob) == ()

    judged(tmp_path, story)


def pinned(network: str, **metadata: Any) -> Document:
    """The sandbox with DFW pinned to an older template, which names this network."""
    older = sandbox({IMAGE: "registry.test/web:0", f"{NETWORK}/name": network})
    entry = {
        "revision": 1,
        "template": older["spec"]["template"],
        "instead": unstamped_hash(decoded(sandbox()).spec.template),
    }
    text = json.dumps({"DFW": entry})
    known = {"annotations": {annotations.CITY_TEMPLATES: text}}
    return sandbox({"metadata": sandbox()["metadata"] | known | metadata})


def test_a_user_who_pins_a_city_needs_permission_for_the_networks_of_its_template(tmp_path):
    """The spec does not change, and the city's traffic goes through those networks."""

    async def story(stage: Stage) -> None:
        bob = UserInfo(username="bob")
        why = await refused(stage, pinned("private"), sandbox(), user=bob)
        assert (
            "metadata.annotations[compute.datumapis.com/city-templates][DFW].template.spec."
            "networkInterfaces[0].network: Forbidden" in why
        )
        assert "bob may not use the network default/private" in why
        assert await asked(stage, pinned("private"), sandbox()) == ()
        kept = pinned("private", labels={"team": "blue"})
        assert await asked(stage, kept, pinned("private"), user=bob) == ()
        assert await asked(stage, sandbox(), pinned("private"), user=bob) == ()

    judged(tmp_path, story)


def test_a_pin_cannot_attach_to_a_network_that_is_being_deleted(tmp_path):
    """Unless the city is attached to it already."""

    async def story(stage: Stage) -> None:
        client = stage.client(PROJECT, "admin")
        private = network("private")
        held = msgspec.structs.replace(private.metadata, finalizers=("example.com/held",))
        await client.create(msgspec.structs.replace(private, metadata=held))
        await client.delete(private)
        why = await refused(stage, pinned("private"), sandbox())
        assert "default/private is being deleted" in why
        restarted = pinned("private")
        restarted["metadata"]["annotations"][annotations.RESTARTED_CITIES] = "{}"
        assert await asked(stage, restarted, pinned("private")) == ()

    judged(tmp_path, story)


def test_settings_without_effect_are_warned_of(tmp_path):
    """Also where the spec does not change."""

    async def story(stage: Stage) -> None:
        known = {annotations.PAUSED_CITIES: "DFV"}
        (warning,) = await asked(stage, sandbox({"metadata/annotations": known}), sandbox())
        assert warning.endswith('the spec does not name the city "DFV"; did you mean "DFW"?')

    judged(tmp_path, story)


def test_the_review_has_all_of_the_users_info(tmp_path):
    """The reviewer finds the project in ``extra``; without it every review would be denied."""

    async def story(stage: Stage) -> None:
        overheard = ReviewRecorder(stage.planes[PROJECT])
        await stage.role("projects").engage(cluster_name(PROJECT), RecordClient(overheard))
        extra = {"iam.miloapis.com/parent-name": (PROJECT,), "iam.test/team": ("a", "b")}
        user = UserInfo(username="ann", uid="7", groups=("developers",), extra=extra)
        await asked(stage, sandbox(), user=user)
        (spec,) = (question.spec for question in overheard.reviews)
        assert (spec.user, spec.uid, spec.groups, spec.extra) == (
            "ann",
            "7",
            ("developers",),
            extra,
        )
        wanted = spec.resource_attributes
        assert wanted is not None
        assert (wanted.verb, wanted.group, wanted.version, wanted.resource) == (
            "use",
            "networking.datumapis.com",
            "v1alpha",
            "networks",
        )

    judged(tmp_path, story)


def test_a_project_that_does_not_serve_locations_offers_no_city(tmp_path, monkeypatch):
    """The error names the missing permission, and no internal error."""
    kinds = tuple(k for k in stages.every_kind() if k.resource.kind != "LocationBinding")
    monkeypatch.setattr(stages, "every_kind", lambda: Kinds(kinds))

    async def story(stage: Stage) -> None:
        assert "this project is offered no city yet" in await refused(stage, sandbox())

    staged(tmp_path, story, ("projects", PROJECT))


def test_an_invalid_workload_needs_no_permission_check(tmp_path):
    """A refusal is cheap: a document with many networks must not keep the plane busy."""

    async def story(stage: Stage) -> None:
        overheard = ReviewRecorder(stage.planes[PROJECT])
        await stage.role("projects").engage(cluster_name(PROJECT), RecordClient(overheard))
        await refused(stage, sandbox({CITIES: ["XXX"]}))
        assert overheard.reviews == []

    judged(tmp_path, story)


@pytest.mark.parametrize(
    "old",
    [
        sandbox({CITIES: ["GONE"], SCALE: {"minReplicas": 0}}),
        sandbox({"spec/placements": "not what it should be"}),
    ],
    ids=["breaks a rule", "cannot be read"],
)
def test_a_write_that_keeps_the_spec_is_admitted(tmp_path, old):
    """A Workload may be older than a rule, and its finalizers must still be added."""

    async def story(stage: Stage) -> None:
        held = changed(old, {"metadata/finalizers": ["x"]})
        assert await asked(stage, held, old, user=UserInfo(username="workload")) == ()
        noted = changed(old, {"metadata/annotations": {"team": "blue"}})
        assert await asked(stage, noted, old) == ()

    judged(tmp_path, story)


def test_rollout_annotations_are_validated_when_they_change(tmp_path):
    """Not when they were there before: the write of another client must not wait for their repair."""

    async def story(stage: Stage) -> None:
        wrong = sandbox({"metadata/annotations": {PAUSED: "perhaps"}})
        assert PAUSED in await refused(stage, wrong, sandbox())
        held = changed(wrong, {"metadata/finalizers": ["x"]})
        assert await asked(stage, held, wrong) == ()

    judged(tmp_path, story)


def test_a_deleting_workload_is_never_refused(tmp_path):
    """Not even a change of its spec: its finalizers must be removable."""

    async def story(stage: Stage) -> None:
        old = sandbox({"metadata/deletionTimestamp": "2026-01-01T00:00:00Z"})
        assert await asked(stage, changed(old, {CITIES: ["XXX"]}), old) == ()

    judged(tmp_path, story)


def test_a_change_of_an_unreadable_workload_is_validated_as_new(tmp_path):
    """There is nothing to compare it with."""

    async def story(stage: Stage) -> None:
        old = sandbox({"spec/placements": "not what it should be"})
        assert await asked(stage, sandbox(), old) == ()
        assert "cityCodes" in await refused(stage, sandbox({CITIES: ["XXX"]}), old)

    judged(tmp_path, story)


def test_a_city_that_was_withdrawn_may_stay_and_is_warned_of(tmp_path):
    """Another edit must not wait for that one."""

    async def story(stage: Stage) -> None:
        old = sandbox({CITIES: ["DFW", "LHR"]})
        (warning,) = await asked(stage, changed(old, {IMAGE: "registry.test/web:2"}), old)
        assert 'city "LHR" is no longer offered' in warning

    judged(tmp_path, story)


@pytest.mark.parametrize("verb", ["DELETE", "CONNECT", "delete"])
def test_other_verbs_are_not_reviewed(tmp_path, verb):
    """Regardless of the value."""

    async def story(stage: Stage) -> None:
        assert await admission_of(stage).review(verb, None, sandbox(), ANN, PROJECT) == ()

    judged(tmp_path, story)


def test_the_plane_and_the_webhook_spell_verbs_their_own_way(tmp_path):
    """Both count."""

    async def story(stage: Stage) -> None:
        with pytest.raises(Invalid):
            await admission_of(stage).review(
                "create", sandbox({CITIES: ["XXX"]}), None, ANN, PROJECT
            )

    judged(tmp_path, story)


def test_trap_117_a_project_that_is_not_known_yet_is_unavailable(tmp_path):
    """A replica that has not engaged the project returns Unavailable."""

    async def story(stage: Stage) -> None:
        with pytest.raises(Unavailable, match="the project attic is not known here yet"):
            await asked(stage, sandbox(), project="attic")

    judged(tmp_path, story)


def test_without_a_project_there_must_be_only_one(tmp_path):
    """The cities and networks of another project must never decide."""

    async def story(stage: Stage) -> None:
        assert await asked(stage, sandbox(), project="") == ()
        await stage.engage("projects", "other")
        with pytest.raises(Forbidden, match="names no project"):
            await asked(stage, sandbox(), project="")

    judged(tmp_path, story)


@pytest.mark.parametrize("name", [PROJECT, f"org/{PROJECT}", f"/{PROJECT}"])
def test_a_project_is_found_by_its_last_path_segment(tmp_path, name):
    """Planes are engaged under that name."""

    async def story(stage: Stage) -> None:
        assert await asked(stage, sandbox(), project=name) == ()

    judged(tmp_path, story)


def test_the_project_is_taken_from_the_users_extra_info():
    """The first of the names, as the identity service gives them."""
    extra: dict[str, tuple[str, ...]] = {"iam.miloapis.com/parent-name": ("shop", "other")}
    assert project_of(UserInfo(username="ann", extra=extra)) == "shop"
    assert not project_of(UserInfo(username="ann"))


POLICY = f"{SCALE}/instanceManagementPolicy"
EMPTY = sandbox({POLICY: ""})


def test_an_empty_policy_becomes_the_default_one():
    """Some clients send an empty text for an absent field. The rest is kept."""
    newer = changed(EMPTY, {"spec/futureField": 1})
    got = completed(newer, defaults("CREATE", newer, None))

    assert got == changed(newer, {POLICY: "OrderedReady"})
    assert newer == changed(EMPTY, {"spec/futureField": 1})


@pytest.mark.parametrize(
    ("verb", "new", "old"),
    [
        ("CREATE", sandbox(), None),
        ("CREATE", sandbox({"spec/placements": "?"}), None),
        ("CREATE", sandbox({"spec": ABSENT}), None),
        ("UPDATE", changed(EMPTY, {"metadata/finalizers": ["x"]}), EMPTY),
        ("UPDATE", EMPTY, sandbox({"metadata/deletionTimestamp": "2026-01-01T00:00:00Z"})),
        ("DELETE", None, EMPTY),
    ],
    ids=["complete", "unreadable", "no spec", "the same spec", "being deleted", "deletion"],
)
def test_no_defaults_are_set_where_nothing_is_written_or_missing(verb, new, old):
    """A write that keeps the spec of an old Workload must create no new generation."""
    assert defaults(verb, new, old) == ()


def test_a_document_without_metadata_is_refused(tmp_path):
    """No document of a client may break admission."""

    async def story(stage: Stage) -> None:
        with pytest.raises(Invalid):
            await asked(stage, sandbox({"metadata": ABSENT, CITIES: ["XXX"]}))

    judged(tmp_path, story)

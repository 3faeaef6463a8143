"""Entitlements in the planes of projects."""

import msgspec

from compute.api import annotations
from compute.api.services import ServiceEntitlement, ServiceEntitlementSpec, ServiceRef
from compute.decide.conditions import find
from compute.services import entitlements
from kubekit.api.kinds.core import ConfigMap
from kubekit.api.kinds.events import Event
from kubekit.api.meta import ObjectMeta
from tests.support.compute.builders import condition
from tests.support.compute.service_builders import CORE, PLANES, namespace, planes, project
from tests.support.kubekit.stage import Stage, staged


def entitlement(name: str = "compute") -> ServiceEntitlement:
    spec = ServiceEntitlementSpec(service_ref=ServiceRef(name="compute.datumapis.com"))
    return ServiceEntitlement(metadata=ObjectMeta(name=name), spec=spec)


async def set_up(stage: Stage, **data: str) -> None:
    """Settings, made or changed."""
    core = stage.client("core")
    known = await core.find(ConfigMap, "entitlements", CORE)
    if known is None:
        meta = ObjectMeta(name="entitlements", namespace=CORE)
        await core.create(ConfigMap(metadata=meta, data=data))
    else:
        await core.patch(known, msgspec.structs.replace(known, data=data))


async def started(stage: Stage) -> None:
    await stage.client("core").create(namespace(CORE))
    await stage.client("core").create(project())
    stage.start(*entitlements.controllers(planes(stage), stage.factory))


async def phase(stage: Stage, wanted: str, seconds: float = 60.0) -> ServiceEntitlement:
    def there(found: ServiceEntitlement) -> bool:
        return found.status.phase == wanted

    return await stage.named("shop", ServiceEntitlement, "compute", "", there, seconds)


def test_an_entitlement_is_given_by_itself(tmp_path):
    """Without settings approval is immediate, and nothing is written after that."""

    async def story(stage: Stage) -> None:
        await started(stage)
        stage.start(*entitlements.controllers(planes(stage), stage.factory))
        await stage.client("shop").create(entitlement())
        given = await phase(stage, "Active")
        assert given.status.service_name == "compute.datumapis.com"
        await stage.rest()
        assert await stage.quiet() == []

    staged(tmp_path, story, *PLANES)


def test_an_approval_may_take_a_while(tmp_path):
    """It is pending for as long as the settings say, which may change meanwhile."""

    async def story(stage: Stage) -> None:
        await started(stage)
        await set_up(stage, delaySeconds="3600")
        await stage.client("shop").create(entitlement())
        await phase(stage, "PendingApproval")
        await set_up(stage, delaySeconds="120")
        await stage.rest()
        await phase(stage, "PendingApproval")
        await phase(stage, "Active", 125)

    staged(tmp_path, story, *PLANES)


def test_an_approval_by_hand_waits_for_the_hand(tmp_path):
    """The annotation decides; deleting the settings approves all pending ones."""

    async def story(stage: Stage) -> None:
        await started(stage)
        await set_up(stage, approval="Manual")
        made = await stage.client("shop").create(entitlement())
        await stage.client("shop").create(entitlement("second"))
        pending = await phase(stage, "PendingApproval")
        marks = {annotations.APPROVAL: "Approved"}
        meta = msgspec.structs.replace(pending.metadata, annotations=marks)
        await stage.client("shop").patch(pending, msgspec.structs.replace(made, metadata=meta))
        await phase(stage, "Active")
        core = stage.client("core")
        await core.delete(await core.get(ConfigMap, "entitlements", CORE))
        await stage.named(
            "shop", ServiceEntitlement, "second", "", lambda e: e.status.phase == "Active"
        )

    staged(tmp_path, story, *PLANES)


def test_a_setting_that_cannot_be_read_is_reported_and_changes_nothing(tmp_path):
    """A Warning on the ConfigMap names the key, once; the last good settings stay."""

    async def story(stage: Stage) -> None:
        await started(stage)
        await set_up(stage, approval="Manual")
        await stage.client("shop").create(entitlement())
        await phase(stage, "PendingApproval")
        await set_up(stage, approval="Sometimes")
        await stage.rest()
        await phase(stage, "PendingApproval")
        events = (await stage.client("core").every(Event)).items
        assert [(e.reason, e.regarding.name, e.note) for e in events if e.regarding] == [
            (
                "SettingsInvalid",
                "entitlements",
                'approval: "Sometimes" is neither Automatic nor Manual',
            )
        ]

    staged(tmp_path, story, *PLANES)


def test_a_suspended_project_shows_on_its_entitlements(tmp_path):
    """What is said of the Project is said of them, and taken back with it."""

    async def story(stage: Stage) -> None:
        await started(stage)
        await stage.client("core").create(project("elsewhere"))
        core = stage.client("core")
        await stage.client("shop").create(entitlement())
        await phase(stage, "Active")
        owner = await stage.named("core", type(project()), "shop", "")
        said = msgspec.structs.replace(owner.status, conditions=(condition("Suspended"),))
        await core.patch_status(owner, msgspec.structs.replace(owner, status=said))

        def suspended(found: ServiceEntitlement) -> bool:
            word = find(found.status.conditions, "Suspended")
            return word is not None and word.reason == "ProjectSuspended"

        await stage.named("shop", ServiceEntitlement, "compute", "", suspended)

    staged(tmp_path, story, *PLANES)


def test_an_entitlement_that_goes_is_left_alone(tmp_path):
    """An entitlement that is being deleted is not approved."""

    async def story(stage: Stage) -> None:
        made = entitlement()
        meta = msgspec.structs.replace(made.metadata, finalizers=("example.com/held",))
        client = stage.client("shop")
        made = await client.create(msgspec.structs.replace(made, metadata=meta))
        await client.delete(made)
        await started(stage)
        await stage.rest()
        left = await client.get(ServiceEntitlement, "compute")
        assert left.status.phase == ""

    staged(tmp_path, story, *PLANES)


def test_settings_that_were_bad_from_the_start_approve_nothing(tmp_path):
    """They are reported even without an entitlement; an entitlement waits until they are fixed."""

    async def story(stage: Stage) -> None:
        await stage.client("core").create(namespace(CORE))
        await stage.client("core").create(project())
        await set_up(stage, approval="Sometimes")
        stage.start(*entitlements.controllers(planes(stage), stage.factory))
        await stage.rest()
        events = (await stage.client("core").every(Event)).items
        assert [e.reason for e in events] == ["SettingsInvalid"]
        await stage.client("shop").create(entitlement())
        await phase(stage, "PendingApproval")
        await stage.rest()
        await phase(stage, "PendingApproval")
        await set_up(stage, approval="Automatic")
        await phase(stage, "Active")

    staged(tmp_path, story, *PLANES)

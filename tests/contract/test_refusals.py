"""The first error of a request with several, and the object that it names."""

import pytest

from kubekit.api.errors import AlreadyExists, BadRequest, Conflict, Invalid, NotFound
from kubekit.api.kinds.coordination import Lease
from kubekit.api.kinds.core import ServiceAccount
from kubekit.api.kinds.rbac import ClusterRole, Role
from kubekit.client.options import PatchType
from kubekit.client.transport import Transport
from tests.contract.collection import Collection, summary, take, version
from tests.contract.kinds import RED, SECRET

HOLD = {"finalizers": ["test.example/hold"]}
OTHER = "11111111-1111-4111-8111-111111111111"
RULES = [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"]}]


@pytest.fixture
def leases(transport: Transport, space: str) -> Collection:
    return Collection(transport, Lease.RESOURCE, space)


@pytest.fixture
def roles(transport: Transport, space: str) -> Collection:
    return Collection(transport, Role.RESOURCE, space)


async def test_some_kinds_are_made_by_an_update(leases, roles: Collection):
    """Leases and what gives access, whatever version the document names."""
    lease = await leases.update(leases.document("one", metadata={"resourceVersion": "1"}))
    role = await roles.update(roles.document("one", rules=RULES))
    assert await leases.get("one") == lease
    assert await roles.get("one") == role


async def test_a_dry_run_makes_nothing_by_an_update(leases: Collection):
    """It only says what would be."""
    tried = await leases.update(leases.document("one"), dry_run=True)
    assert tried["metadata"]["uid"]
    with pytest.raises(NotFound):
        await leases.get("one")


async def test_an_update_of_another_object_makes_none(leases: Collection):
    """Who names a uid means an object that was there."""
    with pytest.raises(Conflict, match=OTHER):
        await leases.update(leases.document("one", metadata={"uid": OTHER}))
    with pytest.raises(NotFound):
        await leases.get("one")


async def test_other_kinds_are_not_made_by_an_update(config_maps: Collection):
    """What is not there cannot be replaced."""
    with pytest.raises(NotFound):
        await config_maps.update(config_maps.document("one"))


async def test_an_update_is_read_before_it_is_known_what_it_is_about(config_maps: Collection):
    """A document that is none is a bad request, also for an object that is not there."""
    with pytest.raises(BadRequest):
        await config_maps.update(config_maps.document("one", data="text"))
    with pytest.raises(BadRequest):
        await config_maps.update(config_maps.document("one", metadata={"labels": {"a": 1}}))


async def test_an_update_is_read_before_its_version_is_compared(config_maps: Collection):
    """A document that is none is a bad request, however old it is."""
    made = await config_maps.make("one")
    await config_maps.merge("one", {"data": {"a": "b"}})
    with pytest.raises(BadRequest):
        await config_maps.update(made | {"data": "text"})
    with pytest.raises(Conflict):
        await config_maps.update(made | {"data": {"c": "d"}})


async def test_bytes_that_are_no_base64_are_a_bad_request(transport: Transport, space: str):
    """They have another type, as a number would."""
    secrets = Collection(transport, SECRET, space)
    with pytest.raises(BadRequest):
        await secrets.make("one", data={"a": "%%"})
    await secrets.make("one")
    with pytest.raises(Invalid, match="patch"):
        await secrets.merge("one", {"data": {"a": "%%"}})


async def test_a_uid_is_compared_before_the_version_is_missed(widgets: Collection):
    """A wrong uid is reported first."""
    await widgets.make("one", spec=RED)
    with pytest.raises(Conflict):
        await widgets.update(widgets.document("one", metadata={"uid": OTHER}, spec=RED))


async def test_the_kind_or_plural_in_a_refusal(widgets: Collection):
    """A missing version is reported with the plural, a failed precondition of a delete with the kind."""
    await widgets.make("one", spec=RED)
    with pytest.raises(Invalid) as missing:
        await widgets.update(widgets.document("one", spec=RED))
    with pytest.raises(Conflict) as condition:
        await widgets.delete("one", uid=OTHER)
    named = [refusal.value.details for refusal in (missing, condition)]
    assert [details and details.kind for details in named] == ["widgets", "Widget"]


async def test_a_name_is_taken_until_its_object_is_gone(config_maps: Collection):
    """Who wants it learns that it may become free."""
    await config_maps.make("one", metadata=HOLD)
    with pytest.raises(AlreadyExists, match=r"^configmaps"):
        await config_maps.make("one")
    await config_maps.delete("one")
    with pytest.raises(AlreadyExists, match="object is being deleted"):
        await config_maps.make("one")


async def test_an_object_goes_as_it_was(config_maps: Collection):
    """The change that lets it go is answered, and not stored: who watches sees what was there."""
    made = await config_maps.make("one", metadata=HOLD)
    async with config_maps.watch(resource_version=version(made)) as stream:
        await config_maps.delete("one")
        freed = await config_maps.merge("one", {"metadata": {"finalizers": None}})
        marked, gone = await take(stream, 2)
    assert "finalizers" not in freed["metadata"]
    assert version(freed) == version(marked.object)
    assert (summary(gone), gone.object["metadata"]["finalizers"]) == (
        ("DELETED", "one"),
        HOLD["finalizers"],
    )
    assert version(gone.object) != version(marked.object)


async def test_a_deleted_service_account_is_shown(transport: Transport, space: str):
    """Other kinds are only named."""
    accounts = Collection(transport, ServiceAccount.RESOURCE, space)
    made = await accounts.make("one")
    assert (await accounts.delete("one", dry_run=True))["metadata"] == made["metadata"]


async def test_a_scale_takes_over_and_does_not_begin(widgets: Collection):
    """A scale owns the number only if it had an owner before."""
    await widgets.make("free", spec=RED)
    await widgets.make("owned", spec=RED | {"replicas": 1})
    for name in ("free", "owned"):
        await widgets.merge(name, {"spec": {"replicas": 3}}, "scale")
    owners = {
        name: {e.get("subresource") for e in (await widgets.get(name))["metadata"]["managedFields"]}
        for name in ("free", "owned")
    }
    assert owners == {"free": {None}, "owned": {None, "scale"}}


async def test_fields_that_the_server_adds_have_no_manager(
    namespaces, roles: Collection, space: str
):
    """A namespace's finalizer, and the rules that a role does not have."""
    namespace = await namespaces.get(space)
    role = await roles.make("one")
    fields = [
        entry["fieldsV1"]
        for made in (namespace, role)
        for entry in made["metadata"].get("managedFields", [])
        if entry["manager"] != "kube-controller-manager"
    ]
    assert not [owned for owned in fields if "f:spec" in owned or "f:rules" in owned]


async def test_a_namespace_has_no_grace_period(namespaces, config_maps: Collection, space: str):
    """It goes when it is empty; other objects are given no time."""
    await config_maps.make("one", metadata=HOLD)
    marked = await config_maps.delete("one")
    ending = await namespaces.delete(space)
    assert marked["metadata"]["deletionGracePeriodSeconds"] == 0
    assert "deletionGracePeriodSeconds" not in ending["metadata"]


async def test_what_has_no_namespace_is_given_none(gadgets: Collection, space: str):
    """A document that names one is taken without it."""
    made = await gadgets.make(space, metadata={"namespace": "other"})
    patched = await gadgets.merge(space, {"metadata": {"namespace": "other"}})
    await gadgets.delete(space)
    assert "namespace" not in made["metadata"] | patched["metadata"]


async def test_a_strategic_patch_replaces_pull_secrets(transport: Transport, space: str):
    """Of the lists of a ServiceAccount only the secrets are merged; of a new list no key is asked."""
    accounts = Collection(transport, ServiceAccount.RESOURCE, space)
    await accounts.make("one", imagePullSecrets=[{"name": "a"}])
    patch = {"imagePullSecrets": [{"name": "b"}, {}], "secrets": [{"name": "c"}]}
    made = await accounts.patch("one", PatchType.STRATEGIC, patch)
    assert made["imagePullSecrets"] == [{"name": "b"}, {}]


async def test_what_is_applied_says_what_it_is(config_maps: Collection):
    """A configuration of another kind, or of none, is a bad request."""
    for kind in ("Other", ""):
        config = config_maps.document("one") | {"kind": kind}
        with pytest.raises(BadRequest):
            await config_maps.patch("one", PatchType.APPLY, config, field_manager="me")


async def test_managed_fields_are_a_list(gadgets: Collection, space: str):
    """What is none cannot be read."""
    with pytest.raises(BadRequest):
        await gadgets.make(space, metadata={"managedFields": {}})


async def test_a_name_that_was_made_up_and_taken(transport: Transport, space: str):
    """A name with a prefix is refused with errors about both."""
    roles = Collection(transport, ClusterRole.RESOURCE)
    await roles.make(space)
    with pytest.raises(AlreadyExists, match="not able to generate a unique name"):
        await roles.make(space, metadata={"generateName": "x-"})
    await roles.delete(space)


async def test_a_namespace_whose_finalizers_are_no_list(namespaces: Collection, space: str):
    """They cannot be changed here, but a value that is not a list is still invalid."""
    specs: list[object] = [{"finalizers": "kubernetes"}, []]
    for spec in specs:
        with pytest.raises(Invalid, match="patch"):
            await namespaces.merge(space, {"spec": spec})

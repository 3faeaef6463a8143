"""Writing the changes of a deploy: other clients that write meanwhile, and older servers."""

import asyncio
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest

from compute.api.compute import Workload
from compute.api.networking import Network, NetworkIPAM, NetworkSpec
from compute.app.system_environment import system
from compute.cli.change.planned_changes import PlannedChange, existing_object, joined
from compute.cli.change.planned_writes import create_network, written
from compute.cli.change.workload_change import change_workload
from compute.cli.exits import Failure
from compute.cli.shell.session import Session
from compute.cli.target.chosen import Target, TargetRule
from compute.decide.workload_edits import DeployFlags, desired
from compute.decide.workload_edits.image_settings import with_images
from kubekit.api import scheme
from kubekit.api.errors import ApiError, BadRequest, Conflict, NotFound, already_exists, not_found
from kubekit.api.kinds.core import ConfigMap
from kubekit.api.meta import ManagedFieldsEntry, Object, ObjectMeta, with_metadata, with_spec
from kubekit.client.client import Client
from kubekit.client.connection import Anonymous, Connection
from kubekit.client.transport import ResourceLocation
from kubekit.plane.registry.patch import merge_patch
from tests.support.compute.builders import NOW, placement, template, workload

META = ObjectMeta(name="web", namespace="default")


class FakeTransport:
    """Serves the document of the version that was read last."""

    def __init__(self, client: "FakeClient") -> None:
        self._client = client

    async def get(self, location: ResourceLocation) -> dict[str, Any]:
        return self._client.document()


class FakeClient(Client):
    """A server with one object, whose writes fail as prepared. ``extra`` are fields of a newer server."""

    def __init__(self, stored: Object | None, *failures: ApiError) -> None:
        self.stored = stored
        self.seen: Object | None = None
        self.failures = list(failures)
        self.written: list[Object] = []
        self.extra: dict[str, Any] = {}
        self.patches: list[dict[str, Any]] = []
        self.raw: Any = FakeTransport(self)

    def document(self) -> dict[str, Any]:
        obj = self.seen or self.stored
        assert obj is not None
        document: dict[str, Any] = msgspec.json.decode(scheme.encode(obj))
        if self.extra:
            document["spec"]["template"]["spec"]["runtime"]["sandbox"]["containers"][0] |= (
                self.extra
            )
        return document

    async def get(self, kind: type[Any], name: str, namespace: str = "") -> Any:
        if self.stored is None:
            raise not_found(kind.RESOURCE, name)
        self.seen = self.stored
        return self.stored

    async def create(self, obj: Any, options: Any = None) -> Any:
        if self.failures:
            raise self.failures.pop(0)
        self.written.append(obj)
        return obj

    async def merge(self, kind: Any, location: Any, patch: Any, options: Any) -> Any:
        if self.failures:
            raise self.failures.pop(0)
        self.patches.append(patch)
        self.written.append(scheme.decode_as(kind, merge_patch.apply(self.document(), patch)))
        return self.written[-1]


def session(client: Client) -> Session:
    target = Target(
        connection=Connection(server="https://test", credentials=Anonymous()),
        project="demo", namespace="default", rule=TargetRule.FLAGS, detail="",
    )  # fmt: skip
    return Session(target, client, system())


def planned(existing: Workload | None, **flags: Any) -> PlannedChange:
    given = DeployFlags(**flags)

    def make(known: Object | None) -> Object:
        return desired(known if isinstance(known, Workload) else None, given, META)

    return PlannedChange(existing, make(existing), make)


def write(client: FakeClient, change: PlannedChange) -> Object:
    client.seen = change.existing
    return asyncio.run(written(session(client), change))


def refused(client: FakeClient, change: PlannedChange) -> Failure:
    with pytest.raises(Failure) as error:
        write(client, change)
    return error.value


def by(workload: Workload, manager: str) -> Workload:
    return with_metadata(workload, managed_fields=(ManagedFieldsEntry(manager=manager, time=NOW),))


def test_a_change_of_another_field_is_kept():
    """The same change is made on the newest version."""
    existing = workload()
    newest = workload("web", placement(replicas=5))
    client = FakeClient(newest, Conflict("changed"), Conflict("changed"))
    done = write(client, planned(existing, image="web:2"))

    assert done == with_spec(newest, template=template("web:2"))


def test_fields_of_a_newer_server_stay():
    """A list is written as a whole, so they are in it although this command does not know them."""
    client = FakeClient(workload())
    client.extra = {"livenessProbe": {"path": "/"}}
    write(client, planned(workload(), image="web:2"))

    (patch,) = client.patches
    runtime = patch["spec"]["template"]["spec"]["runtime"]
    assert runtime["sandbox"]["containers"] == [
        {"name": "app", "image": "web:2", "livenessProbe": {"path": "/"}}
    ]
    assert set(patch) == {"metadata", "spec"}


def test_fields_of_a_newer_server_stay_in_a_change_of_any_command():
    """`set image`, `scale` of the dashboard, and all that change a workload in place."""
    client = FakeClient(workload())
    client.extra = {"livenessProbe": {"path": "/"}}
    changed = asyncio.run(
        change_workload(session(client), "web", partial(with_images, wanted={"": "web:2"}))
    )

    (container,) = client.patches[0]["spec"]["template"]["spec"]["runtime"]["sandbox"]["containers"]
    assert container == {"name": "app", "image": "web:2", "livenessProbe": {"path": "/"}}
    assert changed.before == workload()


def test_a_change_that_changes_nothing_is_not_written():
    """The Workload is not even read again."""
    client = FakeClient(workload())
    changed = asyncio.run(change_workload(session(client), "web", lambda known: known))

    assert changed.before is changed.after
    assert client.patches == []


def test_a_change_of_the_same_field_is_refused():
    """The failure names who made the other one, and when; nothing is written."""
    newest = by(workload(template=template("web:9")), "kubectl-edit")
    client = FakeClient(newest, Conflict("changed"))
    failure = refused(client, planned(workload(), image="web:2"))

    assert str(failure) == (
        "workload/web was changed by kubectl-edit at 2026-06-01T12:00:00Z after the plan was made. That "
        "change stays, and yours was not written: run the command again to plan on the newest version"
    )
    assert (failure.code, failure.next_step) == (8, "compute rollout history web")
    assert client.written == []


def test_a_writer_without_a_name():
    """An older server keeps no record of writers."""
    client = FakeClient(workload(template=template("web:9")), Conflict("changed"))

    assert "was changed by another client after" in str(
        refused(client, planned(workload(), image="x"))
    )


def test_an_object_that_changes_all_the_time():
    """It ends after some attempts."""
    client = FakeClient(workload(), *[Conflict("changed")] * 20)

    assert refused(client, planned(workload(), image="web:2")).code == 8
    assert len(client.failures) == 10


def test_a_deletion_meanwhile():
    """The command does not create it again."""
    failure = refused(FakeClient(None, Conflict("changed")), planned(workload(), image="web:2"))

    assert str(failure) == (
        "workload/web was deleted by another client after the plan was made, and stays deleted"
    )
    assert failure.code == 8


def test_a_name_that_is_taken():
    """The failure names the other user."""
    client = FakeClient(by(workload(), "compute-cli"), already_exists(Workload.RESOURCE, "web"))
    failure = refused(client, planned(None, image="web:2", cities=("DFW",)))

    assert str(failure).startswith(
        "workload/web was created by another user of this command at 2026-06-01T12:00:00Z after the plan"
    )
    assert failure.code == 8


def test_other_kinds_are_compared_as_a_whole():
    """The data of a ConfigMap, for example."""
    existing = ConfigMap(metadata=ObjectMeta(name="a", namespace="default"), data={"K": "1"})
    make = partial(_with_data, {"K": "2"})
    change = PlannedChange(existing, make(existing), make)
    elsewhere = with_metadata(existing, labels={"x": "y"})
    same = with_metadata(existing, resource_version="9")

    assert write(FakeClient(same, Conflict("")), change) == _with_data({"K": "2"}, same)
    failure = refused(FakeClient(_with_data({"K": "3", "L": "4"}, elsewhere), Conflict("")), change)
    assert (failure.code, failure.next_step) == (8, "")


def _with_data(data: dict[str, str], existing: Object | None) -> Object:
    assert isinstance(existing, ConfigMap)
    return ConfigMap(metadata=existing.metadata, data=data)


def test_a_server_that_does_not_know_a_field():
    """An older one refuses it, as it is asked to. Any other refusal stays as it is."""
    error = BadRequest('strict decoding error: unknown field "spec.placements[0].scaleSettings.x"')
    failure = refused(FakeClient(workload(), error), planned(workload(), image="web:2"))

    assert str(failure) == (
        "the server does not know a field of workload/web, it may be older than this command: strict "
        'decoding error: unknown field "spec.placements[0].scaleSettings.x"'
    )
    assert (failure.code, failure.next_step) == (1, "compute version")
    with pytest.raises(BadRequest, match="other"):
        write(FakeClient(workload(), BadRequest("other")), planned(workload(), image="web:2"))


def test_a_server_that_does_not_serve_a_kind():
    """The kind is named. For a Workload the session explains it, since nothing would work then."""

    class Older(FakeClient):
        async def get(self, kind: type[Any], name: str, namespace: str = "") -> Any:
            raise NotFound("the server could not find the requested resource")

    older = session(Older(None))
    with pytest.raises(Failure) as error:
        asyncio.run(existing_object(older, Network, "lab", "default"))
    with pytest.raises(NotFound):
        asyncio.run(existing_object(older, Workload, "web", "default"))

    assert str(error.value) == (
        "the server does not serve Network in networking.datumapis.com/v1alpha: it is older than this "
        "command, or the kind is not installed; nothing was changed"
    )
    assert error.value.next_step == "compute version"


def test_an_object_that_is_being_deleted():
    """It cannot be changed any more."""
    leaving = with_metadata(workload(), deletion_timestamp=NOW)
    with pytest.raises(Failure) as error:
        asyncio.run(existing_object(session(FakeClient(leaving)), Workload, "web", "default"))

    assert str(error.value) == "workload web is being deleted; deploy it once it is gone"
    assert (error.value.code, error.value.next_step) == (8, "compute wait web --for deleted")


def test_a_network_that_another_client_creates_first():
    """It serves as well."""
    wanted = Network(
        metadata=ObjectMeta(name="lab", namespace="default"),
        spec=NetworkSpec(ipam=NetworkIPAM(mode="Auto")),
    )
    client = FakeClient(None)
    asyncio.run(create_network(session(client), "default", "lab"))
    taken = FakeClient(None, already_exists(Network.RESOURCE, "lab"))
    asyncio.run(create_network(session(taken), "default", "lab"))

    assert client.written == [wanted]


def test_only_the_first_of_many_errors_are_named():
    """The others are counted."""
    assert joined(["a", "b"]) == "a; b"
    assert joined([str(n) for n in range(9)]) == "0; 1; 2; 3; 4; and 4 more"


def test_the_line_of_a_field(tmp_path: Path):
    """Of the deepest part that is there; keys may have dots."""
    from compute.cli.deploy import manifests  # noqa: PLC0415 -- for this test alone

    file = tmp_path / "a.yaml"
    file.write_text(
        "---\n---\nkind: List\nitems:\n- kind: A\n  metadata:\n    labels: {a.b/c: d}\n"
    )
    (manifest,) = manifests.read(str(file))

    assert manifest.location("metadata.labels[a.b/c]") == f"{file}, line 7"
    assert manifest.location("metadata.name") == f"{file}, line 6"
    assert manifest.location("metadata.labels[0]") == f"{file}, line 7"
    assert manifest.location() == f"{file}, line 5"

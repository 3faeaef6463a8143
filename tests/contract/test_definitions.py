"""CustomResourceDefinitions, as any server serves kinds by them.

A server may take its time between an answer and what follows from it, so tests wait for what they
want to see.
"""

import asyncio
import copy
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

from kubekit.api.errors import BadRequest, Conflict, Forbidden, Invalid, NotFound, TooManyRequests
from kubekit.api.kinds.apiextensions import CustomResourceDefinition
from kubekit.api.resource import Resource
from kubekit.client.transport import Document, Transport
from tests.contract.collection import PATIENCE, Collection, names, summary, take

HOLD = {"finalizers": ["test.example/hold"]}
SPEC: Document = {
    "type": "object",
    "properties": {"size": {"type": "integer", "maximum": 10}, "colour": {"type": "string"}},
}


def version(name: str = "v1", *, stored: bool = True, **parts: Any) -> Document:
    schema = {"type": "object", "properties": {"spec": copy.deepcopy(SPEC)}}
    made = {"name": name, "served": True, "storage": stored, "schema": {"openAPIV3Schema": schema}}
    return made | parts


class Workshop:
    """Definitions in a group of the test's own, and the objects of their kinds."""

    def __init__(self, transport: Transport, group: str, space: str) -> None:
        self._transport = transport
        self.group = group
        self.space = space
        self.definitions = Collection(transport, CustomResourceDefinition.RESOURCE)

    def document(
        self, *versions: Document, plural: str = "bolts", names: Document | None = None, **spec: Any
    ) -> Document:
        kind = plural.removesuffix("s").capitalize()
        return self.definitions.document(
            f"{plural}.{self.group}",
            spec={
                "group": self.group,
                "scope": "Namespaced",
                "names": {"plural": plural, "kind": kind} | (names or {}),
                "versions": list(versions or (version(),)),
            }
            | spec,
        )

    def objects(self, plural: str = "bolts", name: str = "v1") -> Collection:
        kind = plural.removesuffix("s").capitalize()
        resource = Resource(group=self.group, version=name, kind=kind, plural=plural)
        return Collection(self._transport, resource, self.space)

    async def define(self, *versions: Document, plural: str = "bolts", **spec: Any) -> Collection:
        """The objects of a new kind, once it is served."""
        made = await self.definitions.create(self.document(*versions, plural=plural, **spec))
        first = made["spec"]["versions"][0]["name"]
        objects = self.objects(plural, first)
        await self.until_served(objects)
        return objects

    async def get(self, plural: str = "bolts") -> Document:
        return await self.definitions.get(f"{plural}.{self.group}")

    async def change(self, plural: str = "bolts", **spec: Any) -> Document:
        """The definition with other values in its spec, also while others write to it."""
        while True:
            present = await self.get(plural)
            with suppress(Conflict):
                return await self.definitions.update(present | {"spec": present["spec"] | spec})

    async def until_served(self, objects: Collection) -> None:
        await self._until(objects, "served")

    async def until_gone(self, objects: Collection) -> None:
        await self._until(objects, "gone")

    async def _until(self, objects: Collection, state: str) -> None:
        async with asyncio.timeout(PATIENCE):
            while await _state(objects) != state:  # noqa: ASYNC110 -- there is no event
                await asyncio.sleep(0.05)

    async def condition(self, kind: str, status: str, plural: str = "bolts") -> Document:
        """The condition, once it has this status."""
        async with asyncio.timeout(PATIENCE):
            while True:
                present = (await self.get(plural)).get("status", {})
                found: list[Document] = present.get("conditions") or []
                for condition in found:
                    if (condition["type"], condition["status"]) == (kind, status):
                        return condition
                await asyncio.sleep(0.05)


async def _state(objects: Collection) -> str:
    """Whether the server serves these objects; it may not be ready to say so."""
    try:
        await objects.list()
    except NotFound:
        return "gone"
    except TooManyRequests:
        return "unready"
    return "served"


@pytest.fixture
def workshop(run, transport: Transport, space: str) -> Iterator[Workshop]:
    made = Workshop(transport, f"{space}.contract.datumapis.com", space)
    yield made

    async def tidy() -> None:
        for name in names(await made.definitions.list()):
            if name.endswith(made.group):
                with suppress(NotFound):
                    await made.definitions.delete(name)

    run(tidy())


async def test_a_kind_is_defined(workshop: Workshop):
    """Its objects are judged by its schema."""
    bolts = await workshop.define()
    made = await bolts.make("one", spec={"size": 3, "head": "round"})
    assert made["spec"] == {"size": 3}
    with pytest.raises(Invalid):
        await bolts.make("two", spec={"size": 11})


async def test_what_is_left_out_is_filled_in(workshop: Workshop):
    """Names that follow from the kind, and how versions are converted."""
    made = await workshop.definitions.create(workshop.document())
    assert made["spec"]["names"] == {
        "plural": "bolts",
        "kind": "Bolt",
        "singular": "bolt",
        "listKind": "BoltList",
    }
    assert made["spec"]["conversion"] == {"strategy": "None"}
    assert made["metadata"]["generation"] == 1
    assert made["status"]["storedVersions"] == ["v1"]


async def test_a_definition_says_when_it_is_served(workshop: Workshop):
    """By its conditions, and by the names that it has."""
    await workshop.definitions.create(workshop.document())
    established = await workshop.condition("Established", "True")
    accepted = await workshop.condition("NamesAccepted", "True")
    assert established["reason"] == "InitialNamesAccepted"
    assert established["message"] == "the initial names have been accepted"
    assert (accepted["reason"], accepted["message"]) == ("NoConflicts", "no conflicts found")
    found = await workshop.get()
    assert found["status"]["acceptedNames"] == found["spec"]["names"]


async def test_a_status_is_not_for_clients_to_make(workshop: Workshop):
    """What a new definition says of itself does not count."""
    document = workshop.document()
    document["status"] = {"storedVersions": ["v9"]}
    made = await workshop.definitions.create(document)
    assert made["status"]["storedVersions"] == ["v1"]


@pytest.mark.parametrize(
    ("wanted", "reason", "name"),
    [
        ({"singular": "bolt"}, "SingularConflict", "bolt"),
        ({"shortNames": ["bolts"]}, "ShortNamesConflict", "bolts"),
        ({"kind": "Bolt", "listKind": "Nuts", "singular": "nut"}, "KindConflict", "Bolt"),
        ({"listKind": "BoltList"}, "ListKindConflict", "BoltList"),
    ],
)
async def test_a_name_that_is_taken(workshop: Workshop, wanted, reason, name):
    """The second definition is not served, and says why."""
    await workshop.define()
    await workshop.definitions.create(workshop.document(plural="nuts", names=wanted))
    condition = await workshop.condition("NamesAccepted", "False", "nuts")
    assert (condition["reason"], condition["message"]) == (reason, f'"{name}" is already in use')
    established = await workshop.condition("Established", "False", "nuts")
    assert (established["reason"], established["message"]) == (
        "NotAccepted",
        "not all names are accepted",
    )
    with pytest.raises(NotFound):
        await workshop.objects("nuts").list()


REFUSED: dict[str, tuple[Document, str]] = {
    "scope": ({"scope": "World"}, 'spec.scope: Unsupported value: "World"'),
    "no scope": ({"scope": ""}, "spec.scope: Required value"),
    "plural": ({"names": {"plural": "screws", "kind": "Bolt"}}, "must be spec.names.plural"),
    "no kind": ({"names": {"plural": "bolts"}}, "spec.names.kind: Required value"),
    "kind": (
        {"names": {"plural": "bolts", "kind": "B B"}},
        'spec.names.kind: Invalid value: "B B": may have mixed case, but should otherwise match',
    ),
    "short name": (
        {"names": {"plural": "bolts", "kind": "Bolt", "shortNames": ["B_"]}},
        'spec.names.shortNames[0]: Invalid value: "B_": a DNS-1035 label must consist of',
    ),
    "list kind": (
        {"names": {"plural": "bolts", "kind": "Bolt", "listKind": "Bolt"}},
        "kind and listKind may not be the same",
    ),
    "conversion": (
        {"conversion": {"strategy": "Magic"}},
        'spec.conversion.strategy: Unsupported value: "Magic"',
    ),
    "no versions": ({"versions": []}, "must have exactly one version marked as storage version"),
    "two stored": (
        {"versions": [version(), version("v2")]},
        "must have exactly one version marked as storage version",
    ),
    "version twice": (
        {"versions": [version(), version(stored=False)]},
        "must contain unique version names",
    ),
    "version name": ({"versions": [version("V1")]}, 'spec.versions[0].name: Invalid value: "V1"'),
    "no schema": ({"versions": [version(schema={})]}, "openAPIV3Schema: Required value"),
    "unknown fields": ({"preserveUnknownFields": True}, "cannot set to true"),
    "a warning for nothing": (
        {"versions": [version(deprecationWarning="x")]},
        "can only be set for deprecated versions",
    ),
    "a column without a type": (
        {"versions": [version(additionalPrinterColumns=[{"name": "A", "jsonPath": ".spec.x"}])]},
        "type: Required value: must be one of boolean,date,integer,number,string",
    ),
    "a path without a dot": (
        {
            "versions": [
                version(
                    additionalPrinterColumns=[{"name": "A", "type": "string", "jsonPath": "spec"}]
                )
            ]
        },
        "must be a simple json path starting with .",
    ),
    "a field to select by that is not there": (
        {"versions": [version(selectableFields=[{"jsonPath": ".spec.none"}])]},
        "is an invalid path: does not refer to a valid field",
    ),
    "a scale elsewhere": (
        {
            "versions": [
                version(
                    subresources={
                        "scale": {"specReplicasPath": ".x.y", "statusReplicasPath": ".status.n"}
                    }
                )
            ]
        },
        'specReplicasPath: Invalid value: ".x.y": should be a json path under .spec',
    ),
}


@pytest.mark.parametrize("case", REFUSED)
async def test_a_definition_that_is_wrong(workshop: Workshop, case: str):
    """It is refused, and the field is named."""
    change, words = REFUSED[case]
    document = workshop.document()
    document["spec"] |= change
    with pytest.raises(Invalid) as refusal:
        await workshop.definitions.create(document)
    assert words in refusal.value.message


async def test_a_group_of_kubernetes_needs_an_approval(workshop: Workshop):
    """Who takes a name there says who agreed."""
    document = workshop.document(group="contract.k8s.io")
    document["metadata"]["name"] = "bolts.contract.k8s.io"
    with pytest.raises(Invalid) as refusal:
        await workshop.definitions.create(document)
    assert (
        "metadata.annotations[api-approved.kubernetes.io]: Required value: protected groups must "
        'have approval annotation "api-approved.kubernetes.io"' in refusal.value.message
    )


async def test_a_keyword_that_no_schema_has(workshop: Workshop):
    """It is dropped, or refused where the client asks for that."""
    document = workshop.document()
    schema = document["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    schema["properties"]["spec"]["colours"] = 7
    with pytest.raises(BadRequest) as refusal:
        await workshop.definitions.create(document, field_validation="Strict")
    path = "spec.versions[0].schema.openAPIV3Schema.properties.spec.colours"
    assert f'unknown field "{path}"' in refusal.value.message
    made = await workshop.definitions.create(document)
    kept = made["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    assert kept == SPEC


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"scope": "Cluster"}, "spec.scope"),
        ({"names": {"plural": "bolts", "kind": "Nut"}}, "spec.names.kind"),
        ({"names": {"plural": "nuts", "kind": "Bolt"}}, "spec.names.plural"),
    ],
    ids=["scope", "kind", "plural"],
)
async def test_what_a_kind_is_does_not_change(workshop: Workshop, change, field):
    """Its objects would be lost."""
    await workshop.define()
    await workshop.condition("Established", "True")
    with pytest.raises(Invalid) as refusal:
        await workshop.change(**change)
    assert f"{field}: Invalid value: " in refusal.value.message
    assert "field is immutable" in refusal.value.message


async def test_the_generation_counts_changes_of_the_spec(workshop: Workshop):
    """Labels and conditions do not count."""
    await workshop.define()
    await workshop.condition("Established", "True")
    name = f"bolts.{workshop.group}"
    labelled = await workshop.definitions.merge(name, {"metadata": {"labels": {"a": "b"}}})
    changed = await workshop.change(versions=[version(deprecated=True)])
    assert (labelled["metadata"]["generation"], changed["metadata"]["generation"]) == (1, 2)


async def test_versions_are_views_of_one_object(workshop: Workshop):
    """Only the apiVersion differs, in which one it was made and in which one it is stored."""
    first = await workshop.define(version("v1"), version("v2", stored=False))
    second = workshop.objects(name="v2")
    made = await second.make("one", spec={"size": 1})
    shown = await first.get("one")
    assert (made["apiVersion"], shown["apiVersion"]) == (
        f"{workshop.group}/v2",
        f"{workshop.group}/v1",
    )
    assert shown["spec"] == made["spec"]
    changed = await workshop.change(versions=[version("v1", stored=False), version("v2")])
    assert changed["status"]["storedVersions"] == ["v1", "v2"]
    await workshop.until_served(second)
    assert (await second.get("one"))["spec"] == made["spec"]


async def test_a_version_that_is_not_served(workshop: Workshop):
    """It is hidden, and the objects stay in the others."""
    first = await workshop.define(version("v1"), version("v2", stored=False))
    await first.make("one")
    await workshop.change(versions=[version("v1"), version("v2", stored=False, served=False)])
    await workshop.until_gone(workshop.objects(name="v2"))
    await workshop.until_served(first)
    assert names(await first.list()) == ["one"]


async def test_a_version_that_may_be_stored_stays(workshop: Workshop):
    """Until the status says that nothing is stored in it any more."""
    await workshop.define()
    with pytest.raises(Invalid) as refusal:
        await workshop.change(versions=[version("v2")])
    assert (
        'status.storedVersions[0]: Invalid value: "v1": missing from spec.versions; v1 was '
        "previously a storage version, and must remain in spec.versions until a storage migration"
    ) in refusal.value.message
    await workshop.change(versions=[version("v1", stored=False), version("v2")])
    stored = {"status": {"storedVersions": ["v2"]}}
    await workshop.definitions.merge(f"bolts.{workshop.group}", stored, part="status")
    changed = await workshop.change(versions=[version("v2")])
    assert changed["status"]["storedVersions"] == ["v2"]


async def test_a_definition_takes_its_kind_along(workshop: Workshop):
    """First the objects go, then the definition, and the kind is not found any more."""
    bolts = await workshop.define()
    await bolts.make("one")
    await workshop.condition("Established", "True")
    async with bolts.watch() as changes:
        assert summary((await take(changes, 1))[0]) == ("ADDED", "one")
        await workshop.definitions.delete(f"bolts.{workshop.group}")
        assert summary((await take(changes, 1))[0]) == ("DELETED", "one")
    await workshop.until_gone(bolts)
    async with asyncio.timeout(PATIENCE):
        with suppress(NotFound):
            while True:
                await workshop.get()
                await asyncio.sleep(0.05)


async def test_an_object_that_is_held_holds_its_definition(workshop: Workshop):
    """Meanwhile nothing new is taken, and the definition says that it is going."""
    bolts = await workshop.define()
    await bolts.make("held", metadata=HOLD)
    await workshop.condition("Established", "True")
    await workshop.definitions.delete(f"bolts.{workshop.group}")
    try:
        condition = await workshop.condition("Terminating", "True")
        assert condition["reason"].startswith("InstanceDeletion")
        with pytest.raises(Forbidden) as refusal:
            await bolts.make("late")
        assert refusal.value.message == (
            f'bolts.{workshop.group} "late" is forbidden: create not allowed while custom resource '
            "definition is terminating"
        )
    finally:
        await bolts.merge("held", {"metadata": {"finalizers": None}})
    await workshop.until_gone(bolts)


async def test_a_kind_can_be_defined_again(workshop: Workshop):
    """It has none of the objects that went with the first."""
    bolts = await workshop.define()
    await bolts.make("one")
    await workshop.condition("Established", "True")
    await workshop.definitions.delete(f"bolts.{workshop.group}")
    await workshop.until_gone(bolts)
    async with asyncio.timeout(PATIENCE):
        while f"bolts.{workshop.group}" in names(  # noqa: ASYNC110 -- there is no event
            await workshop.definitions.list()
        ):
            await asyncio.sleep(0.05)
    again = await workshop.define()
    assert names(await again.list()) == []

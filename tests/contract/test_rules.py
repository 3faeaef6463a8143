"""What the schema of a kind says in expressions, and what its changes mean for old objects.

A server may take its time between an answer and what follows from it, so tests wait for what they
want to see.
"""

import asyncio

import pytest

from kubekit.api.errors import Invalid
from kubekit.client.transport import Document
from tests.contract.collection import PATIENCE, Collection, names
from tests.contract.test_definitions import Workshop, version, workshop

__all__ = ["workshop"]  # a fixture of the definitions' own suite

RULES = [
    {"rule": "self.low <= self.high", "message": "low must not be above high"},
    {
        "rule": "self.high < 100",
        "messageExpression": "self.low > 100 ? 'neither may be above 99' : 'high is at most 99'",
        "fieldPath": ".high",
        "reason": "FieldValueForbidden",
    },
]


def ruled(*rules: Document, **properties: Document) -> Document:
    """A version whose spec has numbers, and these rules about it."""
    spec = {
        "type": "object",
        "required": ["low", "high"],
        "properties": {"low": {"type": "integer"}, "high": {"type": "integer"}, **properties},
        "x-kubernetes-validations": list(rules or RULES),
    }
    schema = {"type": "object", "properties": {"spec": spec}}
    return version(schema={"openAPIV3Schema": schema})


def causes(refusal: pytest.ExceptionInfo[Invalid]) -> list[tuple[str, str]]:
    details = refusal.value.to_status().details
    assert details is not None
    return [(cause.field, cause.message) for cause in details.causes]


async def test_a_rule_is_kept(workshop: Workshop):
    """Whatever breaks it is refused, with the rule's own words at the rule's own field."""
    bolts = await workshop.define(ruled())
    await bolts.make("good", spec={"low": 1, "high": 2})
    with pytest.raises(Invalid) as refusal:
        await bolts.make("bad", spec={"low": 200, "high": 150})
    (one, other) = causes(refusal)
    assert (one[0], "low must not be above high" in one[1]) == ("spec", True)
    assert other == ("spec.high", "Forbidden: neither may be above 99")


async def test_a_rule_may_compare_with_what_was(workshop: Workshop):
    """It is asked of changes and not of new objects."""
    rising = {"rule": "self.high >= oldSelf.high", "message": "high only rises"}
    bolts = await workshop.define(ruled(rising))
    await bolts.make("one", spec={"low": 1, "high": 5})
    await bolts.merge("one", {"spec": {"high": 6}})
    with pytest.raises(Invalid, match="high only rises"):
        await bolts.merge("one", {"spec": {"high": 4}})


async def test_what_was_wrong_before_the_rule_may_stay(workshop: Workshop):
    """A rule that came later is not held against what does not change."""
    bolts = await workshop.define(ruled({"rule": "true"}))
    await bolts.make("one", spec={"low": 9, "high": 5})
    await workshop.change(versions=[ruled()])
    await until_refused(bolts, {"low": 2, "high": 1})
    labelled = await bolts.merge("one", {"metadata": {"labels": {"a": "b"}}})
    assert labelled["spec"] == {"low": 9, "high": 5}
    with pytest.raises(Invalid, match="low must not be above high"):
        await bolts.merge("one", {"spec": {"high": 6}})


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("self.middle > 1", "undefined field 'middle'"),
        ("self.low +", "Syntax error"),
        ("self.low", "must evaluate to a bool"),
        ("self.low == 'a'", "found no matching overload"),
    ],
    ids=["unknown field", "syntax", "no answer", "types"],
)
async def test_a_rule_that_cannot_be_asked(workshop: Workshop, rule: str, words: str):
    """The definition is refused, and says why."""
    with pytest.raises(Invalid, match=words):
        await workshop.definitions.create(workshop.document(ruled({"rule": rule})))


async def test_d7_a_rule_that_would_cost_too_much(workshop: Workshop):
    """Lists without a limit, each looked through for each entry of the other."""
    lists = {"items": {"type": "array", "items": {"type": "string"}}}
    rule = {"rule": "self.items.all(a, self.items.all(b, self.items.all(c, a != b + c)))"}
    with pytest.raises(Invalid, match="estimated rule cost exceeds budget"):
        await workshop.definitions.create(workshop.document(ruled(rule, **lists)))


async def test_a_new_default_shows_in_old_objects(workshop: Workshop):
    """In gets, lists and watches, and their versions stay."""
    bolts = await workshop.define(version())
    made = await bolts.make("one", spec={"size": 1})
    spec = {
        "type": "object",
        "properties": {"size": {"type": "integer"}, "grade": {"type": "string", "default": "A"}},
    }
    schema = {"type": "object", "properties": {"spec": spec}}
    await workshop.change(versions=[version(schema={"openAPIV3Schema": schema})])
    shown = await until(bolts, "grade")
    assert shown["spec"] == {"size": 1, "grade": "A"}
    assert shown["metadata"]["resourceVersion"] == made["metadata"]["resourceVersion"]
    listed = await bolts.list()
    assert [item["spec"] for item in listed["items"]] == [{"size": 1, "grade": "A"}]
    async with bolts.watch() as stream:
        first = await anext(stream)
    assert first.object["spec"] == {"size": 1, "grade": "A"}


async def test_a_field_that_the_schema_forgot_is_not_shown(workshop: Workshop):
    """Old objects are pruned as new ones are."""
    bolts = await workshop.define(version())
    await bolts.make("one", spec={"size": 1, "colour": "red"})
    spec = {"type": "object", "properties": {"size": {"type": "integer"}}}
    schema = {"type": "object", "properties": {"spec": spec}}
    await workshop.change(versions=[version(schema={"openAPIV3Schema": schema})])
    async with asyncio.timeout(PATIENCE):
        while "colour" in (shown := await bolts.get("one"))["spec"]:  # noqa: ASYNC110 -- there is no event
            await asyncio.sleep(0.05)
    assert shown["spec"] == {"size": 1}
    assert names(await bolts.list()) == ["one"]


async def until(bolts: Collection, field: str) -> Document:
    """The object, once it has a field that no client wrote."""
    async with asyncio.timeout(PATIENCE):
        while field not in (shown := await bolts.get("one"))["spec"]:  # noqa: ASYNC110 -- there is no event
            await asyncio.sleep(0.05)
    return shown


async def until_refused(bolts: Collection, spec: Document) -> None:
    """Wait until a rule is in force."""
    async with asyncio.timeout(PATIENCE):
        while await _is_taken(bolts, spec):  # noqa: ASYNC110 -- there is no event
            await asyncio.sleep(0.05)


async def _is_taken(bolts: Collection, spec: Document) -> bool:
    try:
        await bolts.create(bolts.document("probe", spec=spec), dry_run=True)
    except Invalid:
        return False
    return True

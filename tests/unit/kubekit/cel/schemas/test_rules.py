"""How rules run on documents: where they run, and which errors they report."""

import pytest

from kubekit.api.fields import Problem, invalid, required, too_long
from kubekit.cel import Budget, rules_of, unchecked

TEXT = {"type": "string"}
NUMBER = {"type": "integer"}


def with_rules(schema, *rules):
    return {**schema, "x-kubernetes-validations": [{"rule": rule} for rule in rules]}


def record(**properties):
    return {"type": "object", "properties": properties}


def found(schema, document, old=None):
    rules = rules_of(schema)
    assert rules is not None
    return [str(error) for error in rules.errors(document, old)]


@pytest.mark.parametrize(
    "schema",
    [
        record(spec=record(a=NUMBER)),
        {"type": "object"},
        record(l={"type": "array", "items": TEXT}),
        {"type": "object", "additionalProperties": True},
        {"type": "object", "x-kubernetes-validations": []},
    ],
)
def test_a_schema_without_rules_has_none(schema):
    """Nothing is kept for a kind that has no rules, so nothing is done for its documents."""
    assert rules_of(schema) is None


def test_an_absent_field_is_not_asked_about():
    """A rule on a field is asked only of documents that have it."""
    schema = record(spec=with_rules(record(a=NUMBER), "false"))
    assert found(schema, {}) == []
    assert found(schema, {"spec": None}) == []
    assert found(schema, {"spec": {}}) == ['spec: Invalid value: "object": failed rule: false']


def test_an_unchanged_value_is_not_held_against_anyone():
    """What was accepted once may stay; what is new or changed is judged."""
    schema = record(a=with_rules(NUMBER, "self > 5"), b=NUMBER)
    assert found(schema, {"a": 1, "b": 2}, {"a": 1, "b": 1}) == []
    assert len(found(schema, {"a": 2}, {"a": 1})) == 1
    assert len(found(schema, {"a": 1}, {})) == 1


def test_an_unchanged_value_is_held_against_a_rule_that_compares():
    """A rule about the change itself is asked even if the value is the same."""
    schema = record(a=with_rules(NUMBER, "self > oldSelf"))
    assert len(found(schema, {"a": 1}, {"a": 1})) == 1


def test_an_item_of_a_plain_list_is_unchanged_only_with_its_list():
    """Items without identity count as unchanged only if nothing in their list changed."""
    schema = record(l={"type": "array", "items": with_rules(TEXT, "self != 'x'")})
    assert found(schema, {"l": ["x"]}, {"l": ["x"]}) == []
    assert len(found(schema, {"l": ["x", "y"]}, {"l": ["x"]})) == 1


def test_true_is_not_one():
    """A change from 1 to true, or to 1.0, is a change."""
    schema = with_rules(
        record(o={"type": "object", "x-kubernetes-preserve-unknown-fields": True}), "false"
    )
    for new in (True, 1.0):
        assert len(found(schema, {"o": {"a": new}}, {"o": {"a": 1}})) == 1


def test_kind_and_version_are_never_unchanged():
    """A rule on the kind is asked of every update, as Kubernetes asks it."""
    schema = record(kind=with_rules(TEXT, "false"), other=with_rules(TEXT, "false"))
    document = {"kind": "K", "other": "x"}
    errors = ['kind: Invalid value: "string": failed rule: false']
    assert found(schema, document, dict(document)) == errors


def test_items_of_a_list_map_keep_their_past_when_they_move():
    """The old value of an item is the one with its keys, wherever it was."""
    item = with_rules(record(name=TEXT, port=NUMBER, v=NUMBER), "self.v >= oldSelf.v")
    schema = record(
        l={
            "type": "array",
            "items": item,
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name", "port"],
        }
    )
    old = {"l": [{"name": "a", "port": 1, "v": 5}, {"name": "a", "port": 2, "v": 1}]}
    new = {"l": [{"name": "a", "port": 2, "v": 3}, {"name": "a", "port": 1, "v": 3}]}
    assert found(schema, new, old) == [
        'l[1]: Invalid value: "object": failed rule: self.v >= oldSelf.v'
    ]


def test_a_rule_that_cannot_be_compiled_is_an_error_of_the_document():
    """A rule that was let in by an older server does not let everything pass."""
    schema = record(a=with_rules(NUMBER, "self.b"))
    (error,) = found(schema, {"a": 1})
    assert error.startswith('a: Invalid value: "integer": rule compile error: compilation failed: ')


def test_a_budget_is_shared():
    """What one document used up is missing to the next that shares the budget."""
    rules = rules_of(record(a=with_rules(NUMBER, "self > 0")))
    assert rules is not None
    budget = Budget(5)
    counts = [len(rules.errors({"a": 1}, None, budget)) for _ in range(3)]
    assert (counts, budget.remaining) == ([0, 0, 1], 1)


@pytest.mark.parametrize(
    ("errors", "is_blocked"),
    [
        ([], False),
        ([invalid("a", 1, "must be 2")], False),
        ([required("a")], True),
        ([invalid("a", 1, "must be 2"), too_long("b", "x", 1)], True),
    ],
)
def test_rules_are_not_asked_of_what_has_no_shape(errors, is_blocked):
    """Where a field is missing or of the wrong size, the rules would speak of something else."""
    words = unchecked(errors)
    assert (words is not None) == is_blocked
    if words is not None:
        assert words.problem is Problem.INVALID
        assert str(words).startswith("<nil>: Invalid value: null: some validation rules were not")

"""Definitions beyond single rules: what all of them cost together, and what is no rule at all."""

import pytest

from kubekit.api.fields import Path
from kubekit.cel import definition_errors

COSTLY = {
    "type": "object",
    "properties": {
        "l": {"type": "array", "maxItems": 950, "items": {"type": "string", "maxLength": 10}}
    },
    "x-kubernetes-validations": [{"rule": "self.l.all(x, self.l.exists(y, x == y))"}],
}


def test_d7_all_rules_of_a_schema_share_a_limit():
    """Rules that are each cheap enough may be too much together; the worst are named."""
    few = {"type": "object", "properties": {f"p{i}": COSTLY for i in range(11)}}
    many = {"type": "object", "properties": {f"p{i}": COSTLY for i in range(12)}}
    assert definition_errors(few, Path("s")) == []
    errors = definition_errors(many, Path("s"))
    assert [error.path for error in errors] == [
        *(f"s.properties[p{i}].x-kubernetes-validations[0].rule" for i in range(4)),
        "s",
    ]
    assert errors[-1].detail.startswith(
        "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds "
        "budget by factor of 1.083"
    )


@pytest.mark.parametrize(
    ("rules", "path", "words"),
    [
        ("x", "s.x-kubernetes-validations", "must be a list of rules"),
        (["x"], "s.x-kubernetes-validations", "must be a list of rules"),
        ([{"rule": 1}], "s.x-kubernetes-validations[0].rule", "must be a string"),
        (
            [{"rule": "true", "message": {}}],
            "s.x-kubernetes-validations[0].message",
            "must be a string",
        ),
    ],
)
def test_what_is_no_rule_is_refused(rules, path, words):
    """Nothing that is not written as a rule gets as far as the compiler."""
    schema = {"type": "object", "x-kubernetes-validations": rules}
    (error,) = definition_errors(schema, Path("s"))
    assert (error.path, error.detail) == (path, words)


def test_rules_above_a_wrong_one_are_not_compiled():
    """Where a rule below is not even written right, the ones above could only confuse."""
    schema = {
        "type": "object",
        "properties": {"a": {"type": "string", "x-kubernetes-validations": [{"rule": ""}]}},
        "x-kubernetes-validations": [{"rule": "nonsense("}],
    }
    (error,) = definition_errors(schema, Path("s"))
    assert str(error) == (
        "s.properties[a].x-kubernetes-validations[0].rule: Required value: rule is not specified"
    )


def test_an_embedded_object_has_a_name():
    """Below an embedded object, and at the root, what all objects have can be named."""
    embedded = {
        "type": "object",
        "x-kubernetes-embedded-resource": True,
        "x-kubernetes-preserve-unknown-fields": True,
        "x-kubernetes-validations": [{"rule": "self.metadata.name != '' && self.kind == 'Pod'"}],
    }
    schema = {"type": "object", "properties": {"e": embedded}}
    assert definition_errors(schema, Path("s")) == []

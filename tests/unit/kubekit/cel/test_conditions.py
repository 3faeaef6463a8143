"""Conditions of webhooks."""

import pytest

from kubekit.cel import Budget, CompileError, CostExceeded, EvaluationError, condition, holds

REQUEST = {
    "operation": "UPDATE",
    "namespace": "default",
    "kind": {"group": "", "version": "v1", "kind": "Pod"},
    "userInfo": {"username": "bob", "groups": ["a"], "extra": {"k": ["v"]}},
    "object": {"spec": {"replicas": 3}, "metadata": {"labels": {"app": "x"}}},
    "oldObject": {"spec": {"replicas": 2}},
}


@pytest.mark.parametrize(
    ("expression", "is_met"),
    [
        ("object.spec.replicas > oldObject.spec.replicas", True),
        ("request.operation == 'UPDATE'", True),
        ("request.namespace == 'other'", False),
        ("'a' in request.userInfo.groups", True),
        ("request.userInfo.extra['k'] == ['v']", True),
        ("request.kind.kind == 'Pod' && !has(request.dryRun)", True),
        ("has(object.metadata.labels) && object.metadata.labels.app == 'y'", False),
        ("oldObject == null", False),
        ("object.metadata.?annotations.?x.orValue('') == ''", True),
    ],
)
def test_a_condition_is_asked_of_a_request(expression, is_met):
    """A condition sees the object, what it was, and the request."""
    assert holds(condition(expression), REQUEST, Budget()) is is_met


def test_what_is_created_was_nothing_before():
    """An object that is created has an old one that is null."""
    assert holds(condition("oldObject == null"), {"object": {}}, Budget())


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("object.spec.replicas", "must evaluate to bool"),
        ("request.nonsense == ''", "undefined field 'nonsense'"),
        ("authorizer.group('')", "undeclared reference to 'authorizer'"),
        ("self == 1", "undeclared reference to 'self'"),
        ("request.operation ==", "Syntax error"),
    ],
)
def test_a_wrong_condition_is_refused(expression, words):
    """An invalid condition is reported when the webhook is configured."""
    with pytest.raises(CompileError, match=words):
        condition(expression)


def test_a_condition_may_have_no_answer():
    """An object without the field gives an error, for the failure policy to decide on."""
    with pytest.raises(EvaluationError, match="no such key: nope"):
        holds(condition("object.nope == 1"), REQUEST, Budget())


def test_d7_conditions_share_a_budget():
    """Conditions of one webhook may not cost more than their budget together."""
    budget = Budget(8)
    program = condition("object.spec.replicas > 1")
    assert holds(program, REQUEST, budget)
    with pytest.raises(CostExceeded):
        holds(condition("[1, 2, 3].all(x, x > 0)"), REQUEST, budget)

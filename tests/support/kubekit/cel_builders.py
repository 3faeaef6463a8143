"""Evaluation of a single CEL expression."""

from kubekit.cel import (
    KUBERNETES,
    REQUEST_LIMIT,
    Budget,
    CompileError,
    CostExceeded,
    EvaluationError,
    compile_expression,
)
from kubekit.cel.schema_types import declared


def evaluated(expression, environment=KUBERNETES, **variables):
    """The value, its type, and what it cost."""
    budget = Budget()
    value = compile_expression(expression, environment).evaluate(variables, budget)
    return value, type(value), REQUEST_LIMIT - budget.remaining


def failure(expression, environment=KUBERNETES, **variables):
    """The evaluation error of the expression, and the cost until then."""
    budget = Budget()
    try:
        value = compile_expression(expression, environment).evaluate(variables, budget)
    except (EvaluationError, CostExceeded) as error:
        return str(error), REQUEST_LIMIT - budget.remaining
    return f"it is {value!r}", 0


def compile_failure(expression, environment=KUBERNETES):
    """The compile error of the expression."""
    try:
        compile_expression(expression, environment)
    except CompileError as error:
        return str(error)
    return "it can be used"


def typed(schema):
    """The types that an expression on the schema can use, and the document as it sees it."""
    kind = declared(schema)
    assert kind is not None
    return KUBERNETES.extended({"self": kind.type}, kind.structs()), kind.wrap

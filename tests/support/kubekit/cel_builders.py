"""What becomes of an expression that stands alone."""

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
    """Why the expression has no value, and what finding out cost."""
    budget = Budget()
    try:
        value = compile_expression(expression, environment).evaluate(variables, budget)
    except (EvaluationError, CostExceeded) as error:
        return str(error), REQUEST_LIMIT - budget.remaining
    return f"it is {value!r}", 0


def compile_failure(expression, environment=KUBERNETES):
    """Why the expression cannot be used."""
    try:
        compile_expression(expression, environment)
    except CompileError as error:
        return str(error)
    return "it can be used"


def typed(schema):
    """What an expression on a document of the schema may name, and how it sees the document."""
    kind = declared(schema)
    assert kind is not None
    return KUBERNETES.extended({"self": kind.type}, kind.structs()), kind.wrap

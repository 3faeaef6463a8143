"""The Common Expression Language, as the validation rules and match conditions of Kubernetes use it.

    program = compile_expression("self.replicas <= 5", environment)
    program.evaluate({"self": document}, Budget())

    compile_expression  parses, checks and plans an expression; the result is a `Program`
    Program             a compiled expression, which may be shared
    ProgramError        a constant part of an expression cannot be computed
    Environment         what an expression may call and name
    KUBERNETES          the environment of every expression of Kubernetes
    Budget              the cost that the expressions of one request may have
    REQUEST_LIMIT, CALL_LIMIT, CONDITION_LIMIT
                        that cost for one request, one expression, the conditions of one webhook
    CelError            the base class of `CompileError`, `EvaluationError` and `CostExceeded`
    condition, holds    compile the match condition of a webhook, and evaluate it
    rules_of, Rules     the rules of a schema, which judge documents
    unchecked           the error for a document that is too malformed for its rules to run
    definition_errors   what is wrong with the rules of a schema

An expression goes through `syntax` (lexer, parser, macros), `checking` (checker, validators),
`evaluation` (planning, steps, folds) and `programs`. What it can call is in `libraries`.
`costs.call_costs` has the cost of a call, `costs.estimates` the most that an expression may cost.
`schema_types` makes types of schemas, and `schemas` applies and judges their rules.
"""

from kubekit.cel.conditions import CONDITION_LIMIT, condition, holds
from kubekit.cel.declarations import Environment
from kubekit.cel.environments import KUBERNETES
from kubekit.cel.errors import CelError, CompileError, CostExceeded, EvaluationError
from kubekit.cel.programs import (
    CALL_LIMIT,
    REQUEST_LIMIT,
    Budget,
    Program,
    ProgramError,
    compile_expression,
)
from kubekit.cel.schemas.definitions import definition_errors
from kubekit.cel.schemas.rules import Rules, rules_of, unchecked

__all__ = [
    "CALL_LIMIT",
    "CONDITION_LIMIT",
    "KUBERNETES",
    "REQUEST_LIMIT",
    "Budget",
    "CelError",
    "CompileError",
    "CostExceeded",
    "Environment",
    "EvaluationError",
    "Program",
    "ProgramError",
    "Rules",
    "compile_expression",
    "condition",
    "definition_errors",
    "holds",
    "rules_of",
    "unchecked",
]

"""The Common Expression Language, as Kubernetes' rules and conditions use it.

    program = compile_expression("self.replicas <= 5", environment)
    program.evaluate({"self": document}, Budget())

An expression goes through the modules in this order: `lexer`, `parser` (with `macros`), `checker`
(with `unification`), `validators`, `planning` (with `steps` and `folds`), `programs`. What it can
call is in `libraries`. `costs` says what calls cost when they are made and `estimates` what an
expression may cost at most.

For schemas `declared` makes types of them, `rules` applies what they say to documents and
`definitions` judges whether they may say it.
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

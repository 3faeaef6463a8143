"""The match conditions of webhooks: whether one is called for a request."""

from collections.abc import Mapping
from typing import Any, Final

from kubekit.cel.environments import KUBERNETES
from kubekit.cel.errors import CompileError
from kubekit.cel.programs import Budget, Program, compile_expression
from kubekit.cel.schema_types import declared
from kubekit.cel.types import BOOL, DYN

CONDITION_LIMIT: Final = 2_500_000  # of all conditions of one webhook

_TEXT: Final = {"type": "string"}


def _object(*names: str, **others: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": {**dict.fromkeys(names, _TEXT), **others}}


_TEXTS: Final = {"type": "array", "items": _TEXT}
_REQUEST: Final = _object(
    "subResource",
    "requestSubResource",
    "name",
    "namespace",
    "operation",
    kind=_object("group", "version", "kind"),
    resource=_object("group", "version", "resource"),
    requestKind=_object("group", "version", "kind"),
    requestResource=_object("group", "version", "resource"),
    userInfo=_object(
        "username",
        "uid",
        groups=_TEXTS,
        extra={"type": "object", "additionalProperties": _TEXTS},
    ),
    dryRun={"type": "boolean"},
)
_DECLARED: Final = declared(_REQUEST, name="kubernetes.AdmissionRequest")
assert _DECLARED is not None
_ENVIRONMENT: Final = KUBERNETES.extended(
    {"object": DYN, "oldObject": DYN, "request": _DECLARED.type},
    _DECLARED.structs(),
)


def condition(expression: str) -> Program:
    """The expression as a condition. Raises `CompileError`.

    It may name the ``object``, the ``oldObject`` and the ``request``.
    """
    program = compile_expression(expression, _ENVIRONMENT)
    if program.type != BOOL:
        raise CompileError("must evaluate to bool")
    return program


def holds(program: Program, request: Mapping[str, Any], budget: Budget) -> bool:
    """Whether the condition holds for the ``request`` of an AdmissionReview.

    Raises what `Program.evaluate` does.
    """
    assert _DECLARED is not None
    variables = {
        "object": request.get("object"),
        "oldObject": request.get("oldObject"),
        "request": _DECLARED.wrap(request),
    }
    return program.evaluate(variables, budget) is True

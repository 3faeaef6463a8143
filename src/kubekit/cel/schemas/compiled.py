"""The rules of one schema node, compiled."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from kubekit.cel.declarations import Environment
from kubekit.cel.environments import KUBERNETES
from kubekit.cel.errors import CompileError
from kubekit.cel.programs import Program, ProgramError, compile_expression
from kubekit.cel.schema_types import Declared
from kubekit.cel.schemas.field_paths import BadPath, field_path
from kubekit.cel.types import BOOL, STRING, Type, optional_of

Schema = Mapping[str, Any]

_OLD: Final = "oldSelf"


@dataclass(frozen=True, slots=True)
class Compiled:
    """A rule as it was written, and as it was compiled.

    ``program`` is None for an empty rule. ``message`` is the expression for the message,
    if there is one.
    """

    source: Schema
    program: Program | CompileError | None
    message: Program | None = None
    message_error: str = ""
    field_path: str = ""
    uses_old: bool = False
    is_optional: bool = False

    @property
    def error(self) -> str:
        return str(self.program) if isinstance(self.program, CompileError) else ""

    @property
    def name(self) -> str:
        """The name of the rule in errors: its message, or else its expression."""
        return str(self.source.get("message") or self.source.get("rule", "")).strip()

    @property
    def message_text(self) -> str:
        """The message of a violation."""
        return self.name if self.source.get("message") else f"failed rule: {self.name}"


def compiled_rules(rules: Sequence[Schema], kind: Declared, schema: Schema) -> list[Compiled]:
    """The rules of a node of the type. A rule that does not compile has its error."""
    if not rules:
        return []
    structs = kind.structs()
    plain = KUBERNETES.extended({"self": kind.type, _OLD: kind.type}, structs)
    optional = KUBERNETES.extended({"self": kind.type, _OLD: optional_of(kind.type)}, structs)
    return [
        _compiled(rule, optional if rule.get("optionalOldSelf") else plain, schema)
        for rule in rules
    ]


def _compiled(rule: Schema, environment: Environment, schema: Schema) -> Compiled:
    source = rule.get("rule", "")
    if not source.strip():
        return Compiled(rule, None)
    try:
        program = _typed(source, environment, BOOL)
    except CompileError as error:
        return Compiled(rule, CompileError(_error_text(error)))
    message, message_error = None, ""
    if rule.get("messageExpression"):
        try:
            message = _typed(rule["messageExpression"], environment, STRING)
        except CompileError as error:
            message_error = f"messageExpression {_message_error_text(error)}"
    return Compiled(
        rule,
        program,
        message,
        message_error,
        _path(rule, schema),
        uses_old=_OLD in program.variables,
        is_optional=bool(rule.get("optionalOldSelf")),
    )


class _WrongType(CompileError):
    """The expression has a value of another type than it must have."""


def _typed(source: str, environment: Environment, wanted: Type) -> Program:
    program = compile_expression(source, environment)
    if program.type != wanted:
        raise _WrongType(str(wanted))
    return program


def _error_text(error: CompileError) -> str:
    if isinstance(error, _WrongType):
        return "cel expression must evaluate to a bool"
    stage = "program instantiation" if isinstance(error, ProgramError) else "compilation"
    return f"{stage} failed: {error}"


def _message_error_text(error: CompileError) -> str:
    if isinstance(error, _WrongType):
        return "must evaluate to a string"
    stage = "instantiation" if isinstance(error, ProgramError) else "compilation"
    return f"{stage} failed: {error}"


def _path(rule: Schema, schema: Schema) -> str:
    try:
        return field_path(rule.get("fieldPath", ""), schema)
    except BadPath:
        return ""

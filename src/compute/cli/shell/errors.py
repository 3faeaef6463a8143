"""Failures as a user reads them: the cause, then one next command; or a document, with -o json."""

import json
from collections.abc import Iterable
from typing import Final, TypeVar

from compute.cli.exits import Exit, Failure, listed_errors
from compute.cli.invocation import spelled
from compute.cli.output.tables import plain
from kubekit.api.errors import (
    AlreadyExists,
    ApiError,
    Conflict,
    Forbidden,
    Invalid,
    NotFound,
    Timeout,
    Unauthorized,
    Unavailable,
)

T = TypeVar("T")

_CODES: Final[tuple[tuple[type[ApiError], Exit], ...]] = (
    (NotFound, Exit.NOT_FOUND),
    (AlreadyExists, Exit.CONFLICT),
    (Conflict, Exit.CONFLICT),
    (Timeout, Exit.UNKNOWN),
    (Unavailable, Exit.UNKNOWN),
)
_NEXT: Final[tuple[tuple[type[ApiError], str], ...]] = (
    (Unauthorized, "compute config view"),
    (Forbidden, "compute config view"),
    (Timeout, "compute doctor"),
    (Unavailable, "compute doctor"),
)


def text_of(failure: Failure) -> str:
    """The failure, and the next command on a line of its own."""
    first, *more = [plain(spelled(line)) for line in failure.lines]
    lines = [f"Error: {first}", *more]
    if failure.next_step:
        lines.append(f"Next:  {plain(spelled(f'`{failure.next_step}`')).strip('`')}")
    return "\n".join(lines)


def json_of(failure: Failure) -> str:
    """The failure as a document for scripts."""
    error = {
        "code": int(failure.code),
        "reason": failure.reason or failure.code.name.title().replace("_", ""),
        "message": spelled(str(failure)),
        "city": failure.city,
        "next": spelled(f"`{failure.next_step}`").strip("`"),
    }
    return json.dumps({"error": error}, indent=2)


def failure_of(error: ApiError, project: str = "") -> Failure:
    """A refusal of a server as a failure of the command."""
    code = _first(_CODES, error) or Exit.ERROR
    next_step = _first(_NEXT, error) or ("compute config view" if _lacks_namespace(error) else "")
    return Failure(
        _sentence(error, project),
        code,
        next_step=next_step,
        reason=error.reason,
        lines=listed_errors(_causes(error)),
    )


def _sentence(error: ApiError, project: str) -> str:
    where = f" in project {project}" if project else ""
    match error:
        case Unauthorized():
            return f"the server does not accept the credentials{where}: {error.message}"
        case NotFound() if error.details and _lacks_namespace(error):
            return (
                f"there is no namespace {error.details.name}{where}; to create it, deploy a "
                "manifest of kind Namespace"
            )
        case Forbidden():
            return f"no permission{where}: {error.message}"
        case Invalid() if _causes(error):
            return "; ".join(_causes(error))
        case _:
            return error.message


def _causes(error: ApiError) -> list[str]:
    """What is wrong with each field of an object that a server refuses."""
    if not isinstance(error, Invalid) or error.details is None:
        return []
    return [f"{cause.field}: {cause.message}" for cause in error.details.causes]


def _lacks_namespace(error: ApiError) -> bool:
    kind = error.details.kind if error.details else ""
    return isinstance(error, NotFound) and kind == "namespaces"


def _first(table: Iterable[tuple[type[ApiError], T]], error: ApiError) -> T | None:
    return next((value for kind, value in table if isinstance(error, kind)), None)

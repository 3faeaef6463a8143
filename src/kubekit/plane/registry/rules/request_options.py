"""Validates the options of requests: unknown values and conflicting options."""

from typing import Final, get_args

from kubekit.api import errors, fields
from kubekit.api.errors import Invalid
from kubekit.api.fields import FieldError
from kubekit.api.resource import Resource
from kubekit.client.options import (
    DeleteOptions,
    FieldValidation,
    ListOptions,
    Propagation,
    WatchOptions,
    WriteOptions,
)

_MATCH: Final = "resourceVersionMatch"
_MATCHES: Final = ("Exact", "NotOlderThan", "")
_VALIDATIONS: Final = get_args(FieldValidation)
_PROPAGATIONS: Final = get_args(Propagation)


def check_write(options: WriteOptions) -> None:
    if options.field_validation not in _VALIDATIONS:
        problem = fields.not_supported("fieldValidation", options.field_validation, _VALIDATIONS)
        raise _wrong("UpdateOptions", [problem])


def check_apply(options: WriteOptions) -> None:
    """An apply must name its field manager, which owns the applied fields afterwards."""
    check_write(options)
    if not options.field_manager:
        raise _wrong(
            "PatchOptions", [fields.required("fieldManager", "is required for apply patch")]
        )


def check_plain_patch(options: WriteOptions) -> None:
    check_write(options)
    if options.force:
        problem = fields.forbidden("force", "may not be specified for non-apply patch")
        raise _wrong("PatchOptions", [problem])


def check_delete(options: DeleteOptions) -> None:
    if options.propagation not in _PROPAGATIONS:
        known = filter(None, _PROPAGATIONS)
        problem = fields.not_supported("propagationPolicy", options.propagation, known)
        raise _wrong("DeleteOptions", [problem])


def check_list(options: ListOptions) -> None:
    match, version = options.resource_version_match, options.resource_version
    if not match:
        return
    problems: list[FieldError] = []
    if not version:
        problems.append(_forbidden(f"{_MATCH} is forbidden unless resourceVersion is provided"))
    if options.continue_:
        problems.append(_forbidden(f"{_MATCH} is forbidden when continue is provided"))
    if match not in _MATCHES:
        problems.append(fields.not_supported(_MATCH, match, _MATCHES))
    elif match == "Exact" and version == "0":
        problems.append(_forbidden(f'{_MATCH} "exact" is forbidden for resourceVersion "0"'))
    if problems:
        raise _wrong("ListOptions", problems)


def check_watch(options: WatchOptions) -> None:
    match = options.resource_version_match
    problems: list[FieldError] = []
    if options.send_initial_events is None:
        if match:
            why = f"{_MATCH} is forbidden for watch unless sendInitialEvents is provided"
            problems.append(_forbidden(why))
    elif match != "NotOlderThan":
        problems.append(_forbidden(f"sendInitialEvents requires setting {_MATCH} to NotOlderThan"))
        if match:
            problems.append(fields.not_supported(_MATCH, match, ("NotOlderThan",)))
    if problems:
        raise _wrong("ListOptions", problems)


def _forbidden(why: str) -> FieldError:
    return fields.forbidden(_MATCH, why)


def _wrong(kind: str, problems: list[FieldError]) -> Invalid:
    """The error, with the text of a Kubernetes server for options, which have no name."""
    resource = Resource(group="meta.k8s.io", version="v1", kind=kind, plural="")
    return errors.invalid(resource, "", problems)

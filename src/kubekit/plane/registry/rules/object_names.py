"""Names of objects: validation, and generation from a prefix."""

import re
from random import Random
from typing import Final

from kubekit.plane.registry.kinds import Kind

_SUBDOMAIN: Final = re.compile(
    r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*"
)
_LABEL: Final = re.compile(r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?")
_SUBDOMAIN_LIMIT: Final = 253
_LABEL_LIMIT: Final = 63
_SUBDOMAIN_RULE: Final = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com')"
)
_LABEL_RULE: Final = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
    "must start and end with an alphanumeric character (e.g. 'my-name')"
)
_FREELY_NAMED: Final = "rbac.authorization.k8s.io"
_SUFFIX: Final = 5
_LETTERS: Final = (
    "bcdfghjklmnpqrstvwxz2456789"  # no vowels, so that random suffixes contain no words
)


def name_fault(kind: Kind, name: str) -> str | None:
    """The error in an object's name; None if it is valid. Namespaces have a stricter rule.

    Roles and bindings may have any name that fits a path, for instance ``system:discovery``.
    """
    if kind.storage == "/namespaces":
        return (
            None if _fits(name, _LABEL, _LABEL_LIMIT) else _fault(name, _LABEL_LIMIT, _LABEL_RULE)
        )
    if kind.resource.group == _FREELY_NAMED and not kind.custom:
        return segment_fault(name)
    return subdomain_fault(name)


def subdomain_fault(name: str) -> str | None:
    """The error in a name that must be a DNS subdomain; None if it is valid."""
    if _fits(name, _SUBDOMAIN, _SUBDOMAIN_LIMIT):
        return None
    return _fault(name, _SUBDOMAIN_LIMIT, _SUBDOMAIN_RULE)


def segment_fault(name: str) -> str | None:
    """The error in a name that must only be a path segment; None if it is valid."""
    if name in (".", ".."):
        return f"may not be '{name}'"
    return next((f"may not contain '{wrong}'" for wrong in "/%" if wrong in name), None)


def prefix_fault(kind: Kind, prefix: str) -> str | None:
    """The error in a generateName prefix; None if it is valid. It may end with a dash."""
    return name_fault(kind, prefix[:-1] + "a" if prefix.endswith("-") else prefix)


def generated(prefix: str, chance: Random) -> str:
    """A name that starts with the prefix, which is cut so that the name fits into a label."""
    suffix = "".join(chance.choices(_LETTERS, k=_SUFFIX))
    return prefix[: _LABEL_LIMIT - _SUFFIX] + suffix


def _fits(name: str, shape: re.Pattern[str], limit: int) -> bool:
    return len(name) <= limit and shape.fullmatch(name) is not None


def _fault(name: str, limit: int, rule: str) -> str:
    return f"must be no more than {limit} characters" if len(name) > limit else rule

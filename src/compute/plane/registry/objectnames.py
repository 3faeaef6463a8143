"""Names of objects: which are allowed, and how one is made of a prefix."""

import re
from random import Random
from typing import Final

from compute.plane.registry.kinds import Kind

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
_SUFFIX: Final = 5
_LETTERS: Final = "bcdfghjklmnpqrstvwxz2456789"  # no vowels, so that chance spells no words


def name_fault(kind: Kind, name: str) -> str | None:
    """What is wrong with an object's name; None when nothing. Namespaces have the tighter rule."""
    if kind.storage == "/namespaces":
        limit, shape, rule = _LABEL_LIMIT, _LABEL, _LABEL_RULE
    else:
        limit, shape, rule = _SUBDOMAIN_LIMIT, _SUBDOMAIN, _SUBDOMAIN_RULE
    if len(name) > limit:
        return f"must be no more than {limit} characters"
    return None if shape.fullmatch(name) else rule


def prefix_fault(kind: Kind, prefix: str) -> str | None:
    """What is wrong with a prefix that names are made of. It may end as no name may."""
    return name_fault(kind, prefix[:-1] + "a" if prefix.endswith("-") else prefix)


def generated(prefix: str, chance: Random) -> str:
    """A name that begins with the prefix; a long one is cut so that the name fits into a label."""
    suffix = "".join(chance.choices(_LETTERS, k=_SUFFIX))
    return prefix[: _LABEL_LIMIT - _SUFFIX] + suffix

"""What may be the key of a label or annotation, and what may be the value of a label."""

from string import ascii_lowercase, ascii_uppercase, digits
from typing import Final

_LOWER: Final = ascii_lowercase + digits
_ALPHANUMERIC: Final = _LOWER + ascii_uppercase
_LONGEST_PREFIX: Final = 253
_LONGEST_NAME: Final = 63
_NAME_RULE: Final = (
    f"must be 1 to {_LONGEST_NAME} letters, digits, '-', '_' or '.', "
    "starting and ending with a letter or digit"
)
_PREFIX_RULE: Final = (
    f"must be a DNS subdomain: 1 to {_LONGEST_PREFIX} lower-case letters, digits, '-' or '.', "
    "each part starting and ending with a letter or digit"
)


def key_fault(key: str) -> str | None:
    """What is wrong with a label key such as ``app`` or ``example.com/app``; None when nothing."""
    prefix, slash, name = key.partition("/")
    if not slash:
        prefix, name = "", key
    elif not _is_subdomain(prefix):
        return f"its part before '/' {_PREFIX_RULE}"
    if not _is_name(name):
        where = "its part after '/'" if prefix else "it"
        return f"{where} {_NAME_RULE}"
    return None


def value_fault(value: str) -> str | None:
    """What is wrong with a label value; None when nothing. An empty value is fine."""
    return None if not value or _is_name(value) else f"it {_NAME_RULE}"


def _is_name(text: str) -> bool:
    return len(text) <= _LONGEST_NAME and _bounded_by(text, _ALPHANUMERIC, "-_.")


def _is_subdomain(text: str) -> bool:
    parts = text.split(".")
    return len(text) <= _LONGEST_PREFIX and all(_bounded_by(part, _LOWER, "-") for part in parts)


def _bounded_by(text: str, edge: str, inner: str) -> bool:
    """Whether edge characters enclose the text, and only edge and inner ones make it up."""
    return bool(text) and text[0] in edge and text[-1] in edge and not text.strip(edge + inner)

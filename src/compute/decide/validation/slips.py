"""What was probably meant by a value of the wrong type: a hint that mends the commonest slips."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from kubekit.api import digits
from kubekit.api.fields import FieldError, Problem

_STEP: Final = re.compile(r"[^.\[\]]+")
_WANTED: Final = re.compile(r" must be of type (\w+)")
_LONGEST: Final = 40  # characters of a value that are worth repeating


def hinted(error: FieldError, document: Mapping[str, object]) -> FieldError:
    """The error, with a way out added where a value only lacks quotes, brackets, or has too many."""
    wanted = _WANTED.search(error.detail)
    if error.problem is not Problem.TYPE_INVALID or wanted is None:
        return error
    hint = _hint(_found(document, error.path), wanted[1])
    return replace(error, detail=f"{error.detail}; {hint}") if hint else error


def _found(document: object, path: str) -> object:
    """The value at a path; None when the path cannot be followed, and there is nothing to hint."""
    for step in _STEP.findall(path):
        if isinstance(document, Mapping):
            document = document.get(step)
        elif isinstance(document, list) and digits.only(step) and int(step) < len(document):
            document = document[int(step)]
        else:
            return None
    return document


def _hint(value: object, wanted: str) -> str:
    text = json.dumps(value, ensure_ascii=False) if isinstance(value, str | int | float) else ""
    if not text or len(text) > _LONGEST:
        return ""
    if wanted == "array":
        return f"write a list: [{text}]"
    if wanted == "string":
        return f'write it in quotes: "{text}"'
    if wanted == "integer" and isinstance(value, str) and digits.only(value):
        return f"write it without quotes: {value}"
    return ""

"""`--set path=value`: any field of a Workload, by its path.

    spec.placements[default].scaleSettings.minReplicas=3
    spec.template.spec.runtime.sandbox.containers[0].image=app:2
    metadata.annotations[example.com/owner]=shop

An entry of a list is named by its position or its name. A value is JSON, or a text as it is.
"""

import json
import re
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

import msgspec

from compute.api.compute import Workload
from compute.decide.workload_edits.deploy_flags import Assignment, FlagError
from compute.decide.workload_edits.document_errors import sentence
from kubekit.api import digits, scheme, structural
from kubekit.api.fields import FieldError
from kubekit.api.schema import schema_of

FLAG: Final = "--set"
_STEP: Final = re.compile(r"\.?([A-Za-z][A-Za-z0-9]*)|\[([^\]]+)\]")
_SETTABLE: Final = ("spec", "metadata.labels", "metadata.annotations")
_REMOVED: Final = object()


def with_setting(workload: Workload, setting: Assignment) -> Workload:
    """The Workload with one field set, or removed."""
    steps = _steps(setting.key)
    values = [_REMOVED] if setting.value is None else _values(setting.value)
    problems: list[FieldError] = []
    for value in values:
        document = _changed(workload, setting.key, steps, value)
        problems = problems or _problems(document)
        if not _problems(document):
            return scheme.decode_as(Workload, document)
    raise FlagError(FLAG, sentence(problems[0]))


def _steps(path: str) -> list[str]:
    """The steps of a path."""
    steps, position = [], 0
    while match := _STEP.match(path, position):
        steps.append(match[1] or match[2])
        position = match.end()
    if position < len(path) or not steps:
        raise FlagError(FLAG, f'"{path}" is no path, such as {_EXAMPLE}')
    if steps[0] != "spec" and ".".join(steps[:2]) not in _SETTABLE:
        raise FlagError(FLAG, f'"{path}" cannot be set; a path starts with {_listed(_SETTABLE)}')
    return steps


def _values(text: str) -> list[object]:
    """What a text may mean: JSON, else the text itself, as for the tag ``1.20`` of an image."""
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError):  # no JSON, or none that a server would read
        return [text]
    return [parsed, text]


def _changed(workload: Workload, path: str, steps: list[str], value: object) -> dict[str, Any]:
    document: dict[str, Any] = msgspec.json.decode(scheme.encode(workload))
    document.pop("status", None)
    node: Any = document
    for step in steps[:-1]:
        node = _inside(node, step, path)
    _assign(node, steps[-1], path, value)
    return document


def _inside(node: object, step: str, path: str) -> object:
    """The part of a node that a step leads to. An object that is missing is added."""
    if isinstance(node, list):
        return node[_position(node, step, path)]
    if isinstance(node, dict):
        return node.setdefault(step, {})
    raise FlagError(FLAG, f'{path}: "{step}" is below a value that has no fields')


def _assign(node: object, step: str, path: str, value: object) -> None:
    match node:
        case list() if value is _REMOVED:
            del node[_position(node, step, path)]
        case list():
            node[_position(node, step, path)] = value
        case dict() if value is _REMOVED:
            node.pop(step, None)
        case dict():
            node[step] = value
        case _:
            raise FlagError(FLAG, f'{path}: "{step}" is below a value that has no fields')


def _position(entries: list[Any], step: str, path: str) -> int:
    """The position of the entry of a list that a step names."""
    named = [entry.get("name") if isinstance(entry, Mapping) else None for entry in entries]
    if step in named:
        return named.index(step)
    if digits.only(step) and int(step[:9]) < len(entries):
        return int(step[:9])
    known = ", ".join(str(name) for name in named if name) or f"{len(entries)} entries"
    raise FlagError(FLAG, f'{path}: there is no entry "{step}"; there are: {known}')


def _problems(document: dict[str, Any]) -> list[FieldError]:
    return structural.unknown_fields(document, schema()) or structural.validate(document, schema())


@cache
def schema() -> structural.Schema:
    """The schema of a Workload."""
    return schema_of(Workload, _undocumented)


def _undocumented(_: type) -> Mapping[str, str]:
    return {}


def _listed(words: tuple[str, ...]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}"


_EXAMPLE: Final = "spec.placements[default].scaleSettings.minReplicas"

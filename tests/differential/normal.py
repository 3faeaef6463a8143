"""What two servers may say differently and still say the same.

Identities, versions and generated names are numbered as they appear; times are only there or not.
"""

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from tests.differential.asks import Ask, Script
from tests.differential.running import DecodedAnswer

_UID = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")
_GENERATED = re.compile(r"\b(gen-\d+-|x{58})[a-z0-9]{5}\b")
_CURRENT = re.compile(r"(resource version: \d+)( \(\d+\)|, current: \d+)")
_RECORDED = re.compile(r"(ResourceVersion in (?:record|the precondition|object meta)(?: \(|: ))\d+")
_AGE = re.compile(r"^(\d+[smhd])+$|^<unknown>$|^<invalid>$|^20\d\d-\d\d-\d\dT[0-9:]+Z$")
# The error of a refused patch contains the whole object, whose keys come in any order.
_WHOLE = re.compile(r'(Invalid value: )"\{\\"apiVersion\\".*\}"(?=: )', re.DOTALL)
_TIMES = frozenset({"creationTimestamp", "deletionTimestamp", "time"})

# How a server stores things is its own business.
_STORAGE = re.compile(r"StorageError: invalid object, .*?AdditionalErrorMsg: ")


class Normal:
    """The answers of one server to one script, in order."""

    def __init__(self) -> None:
        self._uids: dict[str, str] = {}
        self._versions: dict[str, str] = {}

    def every(self, script: Script, answers: Iterable[DecodedAnswer]) -> list[DecodedAnswer]:
        return [self._answer(*each) for each in zip(script, answers, strict=True)]

    def _answer(self, ask: Ask, answer: DecodedAnswer) -> DecodedAnswer:
        body = answer.body
        if isinstance(body, list):
            body = [_bare(event) for event in body if not _is_mere_bookmark(event)]
        if answer.status == 201 and ("dryRun", "All") in ask.query and isinstance(body, dict):
            body = body | {"metadata": body.get("metadata", {}) | {"resourceVersion": None}}
        warnings = tuple(sorted(self._text(warning) for warning in answer.warnings))
        return replace(answer, body=self._value(body), warnings=warnings)

    def _value(self, value: Any) -> Any:
        if isinstance(value, dict):
            return self._object(value)
        if isinstance(value, list):
            return [self._value(each) for each in value]
        return self._text(value) if isinstance(value, str) else value

    def _object(self, value: dict[str, Any]) -> dict[str, Any]:
        kind = value.get("kind")
        listed = isinstance(kind, str) and kind.endswith("List")
        if kind == "Table":
            listed, value = True, _without_ages(value)
        normal: dict[str, Any] = {}
        for key, each in value.items():
            if key == "causes" and isinstance(each, list):
                normal[key] = sorted(self._value(each), key=str)
            elif key == "metadata" and isinstance(each, dict):
                normal[key] = self._metadata(each, listed=listed)
            else:
                normal[key] = self._value(each)
        return normal

    def _metadata(self, metadata: dict[str, Any], *, listed: bool) -> dict[str, Any]:
        normal: dict[str, Any] = {}
        for key, each in metadata.items():
            if key in _TIMES and isinstance(each, str):
                normal[key] = "<time>"
            elif key == "continue" and each:
                normal[key] = "<more>"
            elif key == "resourceVersion" and isinstance(each, str):
                normal[key] = "<version>" if listed else self._version(each)
            elif key == "managedFields" and isinstance(each, list):
                entries: list[Any] = self._value(each)
                if metadata.get("name") != "default":  # which the server made, or the test
                    normal[key] = _managers(entries)
            else:
                normal[key] = self._value(each)
        return normal

    def _version(self, version: str) -> str:
        return self._versions.setdefault(version, f"<version {len(self._versions) + 1}>")

    def _text(self, text: str) -> str:
        text = _UID.sub(self._uid, text)
        text = _GENERATED.sub(r"\1<any>", text)
        text = _WHOLE.sub(r"\1<object>", text)
        text = _RECORDED.sub(r"\1...", _STORAGE.sub("", text))
        return _CURRENT.sub(r"\1 <current>", text)

    def _uid(self, match: re.Match[str]) -> str:
        uid = match[0]
        if uid.startswith("00000000"):
            return uid
        return self._uids.setdefault(uid, f"<uid {len(self._uids) + 1}>")


def _is_mere_bookmark(event: Any) -> bool:
    """A server sends bookmarks when it likes, but the end of the initial events is a promise."""
    if not isinstance(event, dict) or event.get("type") != "BOOKMARK":
        return False
    metadata = event.get("object", {}).get("metadata", {})
    return "k8s.io/initial-events-end" not in metadata.get("annotations", {})


def _bare(event: Any) -> Any:
    """A bookmark is about no object, whatever a server fills in."""
    if isinstance(event, dict) and event.get("type") == "BOOKMARK":
        notes = event["object"]["metadata"].get("annotations")
        return event | {"object": {"metadata": {"annotations": notes}}}
    return event


def _managers(entries: list[Any]) -> list[Any]:
    """Managers in the order of their names: a server sorts by the second in which each wrote."""
    for entry in entries:
        if entry.get("subresource") == "scale":  # whose time a real server forgets
            entry.pop("time", None)
        if "time" in entry:
            entry["time"] = "<time>"
    return sorted(
        entries,
        key=lambda e: tuple(
            str(e.get(k)) for k in ("operation", "manager", "apiVersion", "subresource")
        ),
    )


def _without_ages(table: dict[str, Any]) -> dict[str, Any]:
    rows = []
    for row in table.get("rows") or []:
        cells = ["<age>" if isinstance(c, str) and _AGE.match(c) else c for c in row["cells"]]
        rows.append(row | {"cells": cells})
    return table | ({"rows": rows} if "rows" in table else {})

"""One request of a script, as it can be sent to any server.

What only an earlier answer knows is written as a reference: ``{{rv:3}}`` is the version of the object
that ask 3 was answered with, ``{{uid:3}}``, ``{{name:3}}`` and ``{{continue:3}}`` likewise, ``{{ns}}``
the namespace of the script. Asks have numbers of their own, so that one can be left out of a script
without changing what the others refer to.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

_REFERENCE = re.compile(r"\{\{(ns|rv|uid|name|continue)(?::(\d+))?\}\}")
_NOTHING = {  # what stands for an answer that has no such thing
    "rv": "1",
    "uid": "00000000-0000-4000-8000-000000000000",
    "name": "absent",
    "continue": "nothing",
}
_WHERE = {"rv": "resourceVersion", "uid": "uid", "name": "name", "continue": "continue"}


@dataclass(frozen=True, slots=True)
class Ask:
    """A request. The body is text, since some of them are no JSON."""

    number: int
    method: str
    path: str
    query: tuple[tuple[str, str], ...] = ()
    body: str = ""
    media: str = "application/json"
    accept: str = "application/json"

    @property
    def is_watch(self) -> bool:
        return self.method == "GET" and any(
            key == "watch" and value not in ("", "0", "false") for key, value in self.query
        )

    def __str__(self) -> str:
        query = "?" + "&".join(f"{key}={value}" for key, value in self.query) if self.query else ""
        accept = f"\n      accept {self.accept}" if self.accept != "application/json" else ""
        body = f"\n      {self.media} {self.body}" if self.body or self.method != "GET" else ""
        return f"{self.number:3}. {self.method} {self.path}{query}{accept}{body}"


Script = tuple[Ask, ...]


@dataclass(frozen=True, slots=True)
class Sent:
    """A request whose references are replaced by what they refer to."""

    method: str
    target: str
    body: bytes | None
    headers: Mapping[str, str]


def sent(ask: Ask, namespace: str, answers: Mapping[int, Any]) -> Sent:
    """A request as it goes over the wire, given the documents of earlier answers."""

    def filled(template: str, nothing: Mapping[str, str] = _NOTHING) -> str:
        def meant(match: re.Match[str]) -> str:
            what, number = match.groups()
            if what == "ns":
                return namespace
            return _field(what, answers.get(int(number))) or nothing[what]

        return _REFERENCE.sub(meant, template)

    # An old version would be asked of one server that has it and of one that has forgotten it.
    query = [(key, filled(value, _NOTHING | {"rv": ""})) for key, value in ask.query]
    target = quote(filled(ask.path), safe="/:%")
    if query:
        target += "?" + urlencode(query)
    body = filled(ask.body)
    headers = {"Accept": ask.accept} if ask.accept else {}
    if ask.media and (body or ask.method != "GET"):
        headers["Content-Type"] = ask.media
    return Sent(ask.method, target, body.encode("utf-8", "surrogatepass") or None, headers)


def _field(what: str, answer: Any) -> str:
    metadata = answer.get("metadata") if isinstance(answer, dict) else None
    value = metadata.get(_WHERE[what]) if isinstance(metadata, dict) else None
    return value if isinstance(value, str) else ""


def text(document: Any) -> str:
    """A document as a body."""
    return json.dumps(document)

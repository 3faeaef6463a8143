"""The requests of our managers, from the audit logs of real servers."""

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from bench.load.federation.managers import account

_WRITES: Final = frozenset({"create", "update", "patch", "delete", "deletecollection"})
_LEASES: Final = "leases"


class Request(NamedTuple):
    """What was asked of which plane, and the code of the answer."""

    plane: str
    verb: str
    resource: str
    code: int

    @property
    def is_write(self) -> bool:
        return self.verb in _WRITES


class AuditMark:
    """The place in every audit log from which on requests are counted."""

    def __init__(self, logs: Mapping[str, Path]) -> None:
        self._logs = logs
        self._places = {plane: log.stat().st_size for plane, log in logs.items()}

    def requests(self, *managers: str) -> Counter[Request]:
        """What these managers have asked since, without leases and watches."""
        users = {account(name) for name in managers}
        found: Counter[Request] = Counter()
        for plane, log in self._logs.items():
            for entry in _entries(log, self._places[plane]):
                if entry["user"]["username"] in users and entry["verb"] != "watch":
                    found[_request(plane, entry)] += 1
        return Counter({each: n for each, n in found.items() if each.resource != _LEASES})


def _entries(log: Path, place: int) -> list[dict[str, Any]]:
    """The complete lines after a place. A request has one entry, when it is answered."""
    with log.open("rb") as file:
        file.seek(place)
        lines = file.read().splitlines(keepends=True)
    entries = [json.loads(line) for line in lines if line.endswith(b"\n")]
    return [each for each in entries if each["stage"] == "ResponseComplete"]


def _request(plane: str, entry: dict[str, Any]) -> Request:
    target = entry.get("objectRef", {})
    resource = "/".join(filter(None, (target.get("resource", ""), target.get("subresource", ""))))
    code = entry.get("responseStatus", {}).get("code", 0)
    return Request(plane, entry["verb"], resource or entry["requestURI"], code)

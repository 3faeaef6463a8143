"""/livez, /readyz and /healthz: whether a plane works or needs a restart.

A full disk is not a failure: reads continue, and writes continue once there is space. A store that
must be opened again fails all three checks, because only a restart helps.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final
from urllib.parse import parse_qs

from kubekit.plane.http.messages import TEXT, Response
from kubekit.plane.store.store import Store

Check = Callable[[Store], str]
"""A check of a store: returns the problem, or an empty text."""

_NO_SNIFFING: Final = (("x-content-type-options", "nosniff"),)


def answer(store: Store, path: str, query: str) -> Response | None:
    """The health page at a path: all checks, or the one check that the path names.

    ``verbose`` lists the checks, ``exclude`` leaves one out. A failure is always listed.
    """
    page, _, name = path.removeprefix("/").partition("/")
    if page not in _PAGES or (name and name not in _CHECKS):
        return None
    asked = parse_qs(query, keep_blank_values=True)
    excluded = asked.get("exclude", [])
    checks = {name: _CHECKS[name]} if name else _CHECKS
    found = {name: "" if name in excluded else check(store) for name, check in checks.items()}
    return _report(page, found, asked)


def _report(page: str, found: Mapping[str, str], asked: Mapping[str, Sequence[str]]) -> Response:
    well = not any(found.values())
    if well and "verbose" not in asked:
        return Response(200, b"ok", TEXT, _NO_SNIFFING)
    excluded = asked.get("exclude", [])
    lines = [_line(name, problem, excluded=name in excluded) for name, problem in found.items()]
    lines.append(f"{page} check {'passed' if well else 'failed'}")
    text = "\n".join(lines) + "\n"
    return Response(200 if well else 500, text.encode(), TEXT, _NO_SNIFFING)


def _line(name: str, problem: str, *, excluded: bool) -> str:
    if problem:
        return f"[-]{name} failed: {problem}"
    return f"[+]{name} {'excluded: ok' if excluded else 'ok'}"


def _ping(_: Store) -> str:
    return ""


def _writes(store: Store) -> str:
    return str(store.stopped or "")


_CHECKS: Final[Mapping[str, Check]] = {"ping": _ping, "store": _writes}
_PAGES: Final = frozenset({"healthz", "livez", "readyz"})

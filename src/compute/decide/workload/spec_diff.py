"""The differences between two specs, as phrases for users.

Both specs are flattened to paths and compared leaf by leaf, with named list entries matched by
name, so that a container that moved does not count as two changes. Common paths have a phrase of
their own. Any other path is printed as it is, so that no change is omitted.
"""

from collections.abc import Collection, Iterator
from typing import Final

import msgspec

from compute.api import annotations
from compute.api.compute import WorkloadSpec

Path = tuple[str, ...]

_SHOWN: Final = 60  # characters of a value; the full diff of the two specs has the rest
_SCALE: Final = {
    "minReplicas": "min replicas",
    "maxReplicas": "max replicas",
    "instanceManagementPolicy": "strategy",
    "name": "scaled by",  # of the resource of a metric
    "averageUtilization": "load in percent",
}
_NAMED: Final = frozenset(
    {"ports", "volumes", "volumeAttachments"}
)  # lists whose entries have names
_ABSENT: Final = "none"
_REORDERED: Final = "entries reordered"


def describe(old: WorkloadSpec, new: WorkloadSpec) -> tuple[str, ...]:
    """One phrase for each change, placements first, then the template in the order of the spec."""
    before, after = _leaves(old), _leaves(new)
    both = before | after
    branches = {path[:depth] for path in both for depth in range(len(path))}
    changed = [p for p in both if before.get(p) != after.get(p) and p not in branches]
    came, went = _placements(new) - _placements(old), _placements(old) - _placements(new)
    phrases = [
        *(
            f"+ placement {p.name} ({', '.join(p.city_codes)})"
            for p in new.placements
            if p.name in came
        ),
        *(f"- placement {p.name}" for p in old.placements if p.name in went),
        *(
            _phrase(path, before.get(path), after.get(path), new)
            for path in changed
            if not (path[0] == "placements" and path[1] in came | went)
            and not _is_implied(path, (before.get(path), after.get(path)), changed)
        ),
    ]
    if not phrases and old != new:
        return (_REORDERED,)
    return tuple(dict.fromkeys(phrases))


def leaf_changes(old: WorkloadSpec, new: WorkloadSpec) -> dict[Path, tuple[object, object]]:
    """Each value that differs, before and after, by its path; None where there is none."""
    before, after = _leaves(old), _leaves(new)
    return {
        path: (before.get(path), after.get(path))
        for path in before | after
        if before.get(path) != after.get(path)
    }


def image(spec: WorkloadSpec) -> str:
    """The images of a spec, as one line of a listing shows them."""
    sandbox = spec.template.spec.runtime.sandbox
    return ", ".join(c.image for c in sandbox.containers) if sandbox else ""


def _placements(spec: WorkloadSpec) -> frozenset[str]:
    return frozenset(p.name for p in spec.placements)


def _leaves(spec: WorkloadSpec) -> dict[Path, object]:
    return dict(_flatten((), msgspec.json.decode(msgspec.json.encode(spec))))


def _flatten(path: Path, value: object) -> Iterator[tuple[Path, object]]:
    entries = _entries(value)
    if entries is None:
        yield path, value
        return
    for key, child in entries.items():
        yield from _flatten((*path, key), child)


def _entries(value: object) -> dict[str, object] | None:
    """The children of a map or of a list of objects; None for a leaf.

    Lists of texts are leaves, and so are empty values: they would be lost otherwise.
    """
    match value:
        case dict() | list() if not value:
            return None
        case dict():
            return value
        case list() if all(isinstance(entry, dict) for entry in value):
            return {str(entry.get("name", i)): entry for i, entry in enumerate(value)}
        case _:
            return None


def _is_implied(path: Path, values: tuple[object, object], changed: Collection[Path]) -> bool:
    """Whether another phrase is enough: that of an entry has its name, and TCP is the default of ports."""
    match path:
        case (*entry, "name") if len(entry) > 1 and entry[-2] in _NAMED:
            return True
        case (*port, "protocol") if port[-2:-1] == ["ports"]:
            return set(values) <= {None, "TCP"} and (*port, "port") in changed
        case _:
            return False


def _phrase(path: Path, old: object, new: object, spec: WorkloadSpec) -> str:
    match path:
        case ("placements", placement, "scaleSettings", *_, field) if field in _SCALE:
            return f"{_SCALE[field]}{_where(placement, spec)}: {_change(old, new)}"
        case ("placements", placement, "cityCodes"):
            return f"cities{_where(placement, spec)}: {_set_change(_words(old), _words(new))}"
        case (*_, "containers", container, "image") | (
            *_,
            "containers",
            container,
            "ports",
            _,
            "port",
        ):
            what = "image" if path[-1] == "image" else f"port {path[-2]}"
            return f"{what}{_which(container, spec)}: {_change(old, new)}"
        case (
            (*_, "env", variable, _) | (*_, "env", variable, _, _) | (*_, "env", variable, _, _, _)
        ):
            return f"env {variable} {_verb(old, new)}"  # its value may be a secret
        case _:
            return _template_phrase(path, old, new)


def _template_phrase(path: Path, old: object, new: object) -> str:
    match path:
        case (*_, "annotations", annotations.RESTARTED_AT):
            return f"restarted at {new}" if new else "restart stamp removed"
        case (*_, "annotations", annotations.SSH_KEYS):
            return f"ssh keys {_verb(old, new)}"
        case _:
            return f"{_template_field(path)}: {_change(old, new)}"


def _template_field(path: Path) -> str:
    match path:
        case ("template", "metadata", "labels", key):
            return f"label {key} of instances"
        case (*_, "resources", "instanceType"):
            return "instance type"
        case (*_, "networkInterfaces", "0", "network", "name"):
            return "network"
        case _:
            return _volume_field(path)


def _volume_field(path: Path) -> str:
    match path:
        case ("template", "spec", "volumes", volume, source, "name" | "secretName"):
            return f"volume {volume} from {source}"
        case (*_, "volumeAttachments", volume, "mountPath"):
            return f"mount of {volume}"
        case _:
            return ".".join(path)


def _where(placement: str, spec: WorkloadSpec) -> str:
    return f" in {placement}" if len(spec.placements) > 1 else ""


def _which(container: str, spec: WorkloadSpec) -> str:
    sandbox = spec.template.spec.runtime.sandbox
    return f" of {container}" if sandbox and len(sandbox.containers) > 1 else ""


def _change(old: object, new: object) -> str:
    return f"{_shown(old)} → {_shown(new)}"


def _set_change(old: list[str], new: list[str]) -> str:
    came, went = [c for c in new if c not in old], [c for c in old if c not in new]
    return " ".join([f"+{c}" for c in came] + [f"-{c}" for c in went]) or "reordered"


def _words(value: object) -> list[str]:
    return [str(word) for word in value] if isinstance(value, list) else []


def _verb(old: object, new: object) -> str:
    if old is None:
        return "added"
    return "removed" if new is None else "changed"


def _shown(value: object) -> str:
    if value is None:
        return _ABSENT
    text = " ".join(_words(value)) if isinstance(value, list) else str(value)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"

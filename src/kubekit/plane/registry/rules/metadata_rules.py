"""Validates the part of the metadata that clients own."""

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any, Final

from kubekit.api import fields, finalizers
from kubekit.api.fields import FieldError
from kubekit.api.selectors import label_syntax
from kubekit.plane.registry.encoding import Metadata
from kubekit.plane.registry.kinds import Kind
from kubekit.plane.registry.schema.conformance import MOST_ERRORS

ORPHAN: Final = "orphan"
_ANNOTATIONS_LIMIT: Final = 256 * 1024  # bytes, keys and values together
_STANDARD: Final = frozenset({ORPHAN, finalizers.FOREGROUND, finalizers.CLEANUP, "kubernetes"})
_REMEMBERED: Final = 8192
_OWNERS: Final = "metadata.ownerReferences"
_FINALIZERS: Final = "metadata.finalizers"


class _Faults:
    """Checks strings of one type, with a cache: the same few occur in every object.

    Only valid strings are cached.
    """

    def __init__(self, fault: Callable[[str], str | None]) -> None:
        self._fault = fault
        self._valid: set[str] = set()

    def of(self, text: str) -> str | None:
        if text in self._valid:
            return None
        fault = self._fault(text)
        if fault is None:
            if len(self._valid) >= _REMEMBERED:
                self._valid.clear()
            self._valid.add(text)
        return fault


_key_fault: Final = _Faults(label_syntax.key_fault).of
_value_fault: Final = _Faults(label_syntax.value_fault).of


def errors(kind: Kind, metadata: Metadata) -> list[FieldError]:
    """The errors in labels, annotations, finalizers and owner references.

    A request may contain hundreds of thousands of errors; only the first are reported.
    """
    problems: list[FieldError] = []
    for part, validate in _PARTS:
        if (value := metadata.get(part)) and len(problems) < MOST_ERRORS:
            problems += islice(validate(kind, value), MOST_ERRORS - len(problems))
    return problems


def warnings(kind: Kind, metadata: Metadata, old: Metadata) -> list[str]:
    """The warnings about new finalizers without a domain."""
    if not kind.custom or "finalizers" not in metadata:
        return []
    present = old.get("finalizers", ())
    unqualified = (
        f'{_FINALIZERS}: "{name}": prefer a domain-qualified finalizer name'
        f"{' including a path (/)' if '.' in name else ''} "
        "to avoid accidental conflicts with other finalizer writers"
        for name in metadata.get("finalizers", ())
        if "/" not in name and name not in _STANDARD and name not in present
    )
    return list(islice(unqualified, MOST_ERRORS))


def _label_errors(_kind: Kind, labels: Mapping[str, str]) -> Iterator[FieldError]:
    for key, value in labels.items():
        if fault := _key_fault(key):
            yield fields.invalid("metadata.labels", key, fault)
        if fault := _value_fault(value):
            yield fields.invalid("metadata.labels", value, fault)


def _annotation_errors(_kind: Kind, annotations: Mapping[str, str]) -> Iterator[FieldError]:
    size = 0
    for key, value in annotations.items():
        if fault := _key_fault(key.lower()):
            yield fields.invalid("metadata.annotations", key, fault)
        size += len(key) + len(value) if value.isascii() else len(f"{key}{value}".encode())
    if size > _ANNOTATIONS_LIMIT:
        yield fields.too_long("metadata.annotations", "", _ANNOTATIONS_LIMIT)


def _finalizer_errors(kind: Kind, names: list[str]) -> Iterator[FieldError]:
    if ORPHAN in names and finalizers.FOREGROUND in names:
        yield fields.invalid(
            _FINALIZERS, names, "finalizer orphan and foregroundDeletion cannot be both set"
        )
    for at, name in enumerate(names):
        if fault := _key_fault(name):
            yield fields.invalid(_FINALIZERS, name, fault)
        elif not kind.custom and "/" not in name and name not in _STANDARD:
            yield fields.invalid(
                f"{_FINALIZERS}[{at}]",
                name,
                "name is neither a standard finalizer name nor is it fully qualified",
            )


def _owner_errors(_kind: Kind, owners: list[dict[str, Any]]) -> Iterator[FieldError]:
    for owner in owners:
        yield from _reference_errors(owner)
    controllers = [owner.get("name", "") for owner in owners if owner.get("controller")]
    if len(controllers) > 1:
        yield fields.invalid(
            _OWNERS,
            owners,
            "Only one reference can have Controller set to true. "
            f'Found "true" in references for {" and ".join(controllers)}',
        )


def _reference_errors(owner: dict[str, Any]) -> Iterator[FieldError]:
    version = owner.get("apiVersion", "")
    if not version or version.count("/") > 1 or not version.rpartition("/")[2]:
        yield fields.invalid(f"{_OWNERS}.apiVersion", version, "version must not be empty")
    for part in ("kind", "name", "uid"):
        if not owner.get(part):
            yield fields.invalid(f"{_OWNERS}.{part}", owner.get(part, ""), "must not be empty")
    if owner.get("kind") == "Event" and version in ("v1", "events.k8s.io/v1"):
        group = version.rpartition("/")[0]
        yield fields.invalid(
            _OWNERS, owner, f"{group}/v1, Kind=Event is disallowed from being an owner"
        )


_PARTS: Final[tuple[tuple[str, Callable[[Kind, Any], Iterator[FieldError]]], ...]] = (
    ("labels", _label_errors),
    ("annotations", _annotation_errors),
    ("finalizers", _finalizer_errors),
    ("ownerReferences", _owner_errors),
)

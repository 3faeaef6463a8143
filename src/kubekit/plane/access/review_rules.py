"""Validation of access reviews, and of the selectors in them."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from kubekit.api.fields import FieldError, Path, forbidden, invalid, required
from kubekit.api.kinds.authorization import (
    ResourceAttributes,
    SelectorAttributes,
    SelectorRequirement,
    SelfSubjectAccessReviewSpec,
    SubjectAccessReviewSpec,
)
from kubekit.api.selectors import field_selectors, label_selectors, label_syntax
from kubekit.api.selectors.label_requirement import SelectorError

Metadata = Mapping[str, Any]
Spec = SubjectAccessReviewSpec | SelfSubjectAccessReviewSpec
_KeyFault = Callable[[str], str | None]

_SPEC: Final = Path("spec")
_RESOURCE: Final = _SPEC.child("resourceAttributes")
_PATH: Final = _SPEC.child("nonResourceAttributes")
_OF_SETS: Final = ("In", "NotIn")
_OF_PRESENCE: Final = ("Exists", "DoesNotExist")
_LONGEST: Final = 8192  # characters of a selector; a longer one fits into no URL


def subject_errors(spec: SubjectAccessReviewSpec, metadata: Metadata) -> Iterator[FieldError]:
    """The errors of a SubjectAccessReview."""
    yield from _spec_errors(spec)
    yield from _subject_errors(spec)
    yield from _metadata_errors(metadata, "must be empty")


def local_errors(
    spec: SubjectAccessReviewSpec, metadata: Metadata, namespace: str
) -> Iterator[FieldError]:
    """The errors of a LocalSubjectAccessReview."""
    yield from _spec_errors(spec)
    yield from _subject_errors(spec)
    rest = {name: value for name, value in metadata.items() if name != "namespace"}
    yield from _metadata_errors(rest, "must be empty except for namespace")
    asked = spec.resource_attributes
    if asked is not None and asked.namespace != namespace:
        place = _RESOURCE.child("namespace")
        yield invalid(place, asked.namespace, "must match metadata.namespace")
    if spec.non_resource_attributes is not None:
        yield invalid(_PATH, _shown(spec), "disallowed on this kind of request")


def self_errors(spec: SelfSubjectAccessReviewSpec, metadata: Metadata) -> Iterator[FieldError]:
    """The errors of a SelfSubjectAccessReview."""
    yield from _spec_errors(spec)
    yield from _metadata_errors(metadata, "must be empty")


def unread_selectors(asked: ResourceAttributes) -> str:
    """A note that an unparsable selector is ignored: no rule depends on it."""
    readers: tuple[tuple[str, SelectorAttributes | None, Callable[..., object]], ...] = (
        ("fieldSelector", asked.field_selector, _read_fields),
        ("labelSelector", asked.label_selector, _read_labels),
    )
    unread = []
    for name, selector, read in readers:
        try:
            if selector is not None:
                read(selector)
        except SelectorError:
            unread.append(f"{_RESOURCE.child(name)} ignored due to parse error")
    return f"[{', '.join(unread)}]" if len(unread) > 1 else "".join(unread)


def _spec_errors(spec: Spec) -> Iterator[FieldError]:
    asked, path = spec.resource_attributes, spec.non_resource_attributes
    if asked is not None and path is not None:
        words = "cannot be specified in combination with resourceAttributes"
        yield invalid(_PATH, _shown(spec), words)
    if asked is None and path is None:
        words = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
        yield invalid(_RESOURCE, None, words)
    if asked is not None:
        fields, labels = _RESOURCE.child("fieldSelector"), _RESOURCE.child("labelSelector")
        yield from _selector_errors(asked.field_selector, fields, _no_key)
        yield from _selector_errors(asked.label_selector, labels, label_syntax.key_fault)


def _subject_errors(spec: SubjectAccessReviewSpec) -> Iterator[FieldError]:
    if not spec.user and not spec.groups:
        yield invalid(_SPEC.child("user"), "", "at least one of user or group must be specified")


def _metadata_errors(metadata: Metadata, words: str) -> Iterator[FieldError]:
    present = {name: value for name, value in metadata.items() if value and name != "managedFields"}
    if present:
        yield invalid("metadata", present, words)


def _shown(spec: Spec) -> dict[str, str]:
    """The path and verb of a review, as Go spells them."""
    asked = spec.non_resource_attributes
    return {} if asked is None else {"Path": asked.path, "Verb": asked.verb}


def _selector_errors(
    selector: SelectorAttributes | None, path: Path, key_fault: _KeyFault
) -> Iterator[FieldError]:
    if selector is None:
        return
    if selector.raw_selector and selector.requirements:
        words = "may not specified at the same time as requirements"
        yield invalid(path.child("rawSelector"), selector.raw_selector, words)
    if not selector.raw_selector and not selector.requirements:
        words = f"when {path} is specified, requirements or rawSelector is required"
        yield required(path.child("requirements"), words)
    for position, one in enumerate(selector.requirements):
        yield from _requirement_errors(one, path.child("requirements").at(position), key_fault)


def _requirement_errors(
    one: SelectorRequirement, path: Path, key_fault: _KeyFault
) -> Iterator[FieldError]:
    if key_fault is _no_key and not one.key:
        yield required(path.child("key"), "must be specified")
    elif why := key_fault(one.key):
        yield invalid(path.child("key"), one.key, why)
    if one.operator in _OF_SETS and not one.values:
        words = "must be specified when `operator` is 'In' or 'NotIn'"
        yield required(path.child("values"), words)
    if one.operator in _OF_PRESENCE and one.values:
        words = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
        yield forbidden(path.child("values"), words)


def _no_key(_key: str) -> None:
    """Any text can be the name of a field."""


def _read_fields(selector: SelectorAttributes) -> None:
    """Refuse an invalid field selector. Field selectors have no sets: one value, or its negation."""
    field_selectors.parse(_short(selector.raw_selector))
    for one in selector.requirements:
        if one.operator not in _OF_SETS or len(one.values) != 1:
            raise SelectorError(f"{one.operator}: a field is compared with one value")


def _read_labels(selector: SelectorAttributes) -> None:
    label_selectors.parse(_short(selector.raw_selector))
    for one in selector.requirements:
        if one.operator not in _OF_SETS + _OF_PRESENCE:
            raise SelectorError(f"{one.operator}: not an operator of labels")


def _short(selector: str) -> str:
    if len(selector) > _LONGEST:
        raise SelectorError(f"a selector has at most {_LONGEST} characters")
    return selector

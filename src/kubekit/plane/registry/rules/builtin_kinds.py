"""The rules and defaults of Kubernetes' own kinds that a schema cannot express.

Each function completes the document in place, and yields its errors. It gets only documents that
fit their schema. Parts of a document may be shared with the old one: they are replaced, never
changed.
"""

import base64
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import msgspec

from kubekit.api.fields import FieldError, Path, Problem, forbidden, invalid, required, too_long
from kubekit.api.selectors import label_syntax
from kubekit.api.structural.nodes import Document
from kubekit.plane.registry.rules.time_fields import MICROS, time_errors

NAMESPACE_FINALIZER: Final = "kubernetes"

_NAME_LABEL: Final = "kubernetes.io/metadata.name"
_ACCOUNT: Final = "kubernetes.io/service-account.name"
_KEY: Final = re.compile(r"[-._a-zA-Z0-9]+")
_KEY_LIMIT: Final = 253
_KEY_WORDS: Final = (
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  "
    f"or 'KEY_NAME',  or 'key-name', regex used for validation is '{_KEY.pattern}')"
)
_LARGEST: Final = 1024 * 1024  # bytes of a ConfigMap's or Secret's values
_HIDDEN: Final = "(not shown)"
_WITHOUT_LINE_ENDS: Final = {ord("\r"): None, ord("\n"): None}
_NEEDED: Final[Mapping[str, tuple[str, ...]]] = {
    "kubernetes.io/basic-auth": ("username|password",),
    "kubernetes.io/dockercfg": (".dockercfg",),
    "kubernetes.io/dockerconfigjson": (".dockerconfigjson",),
    "kubernetes.io/ssh-auth": ("ssh-privatekey",),
    "kubernetes.io/tls": ("tls.crt", "tls.key"),
}
_IN_JSON: Final = frozenset({".dockercfg", ".dockerconfigjson"})


def namespace(document: Document, old: Document | None) -> Iterator[FieldError]:
    """Namespaces: add the label with the name, and the finalizer that holds it until it is empty."""
    metadata = document["metadata"]
    metadata["labels"] = metadata.get("labels", {}) | {_NAME_LABEL: metadata["name"]}
    document["spec"] = spec = dict(document.get("spec", {}))
    finalizers = spec.get("finalizers", [])
    if old is None:
        document["status"] = {"phase": "Active"}
        if NAMESPACE_FINALIZER not in finalizers:
            finalizers = [*finalizers, NAMESPACE_FINALIZER]
        spec["finalizers"] = finalizers
    for name in finalizers:
        if name != NAMESPACE_FINALIZER and ("/" not in name or label_syntax.key_fault(name)):
            message = "name is neither a standard finalizer name nor is it fully qualified"
            yield invalid("spec.finalizers", name, message)


def config_map(document: Document, old: Document | None) -> Iterator[FieldError]:
    """A ConfigMap's keys are file names, and its binary data is base64."""
    data, binary = _values(document, "data"), _values(document, "binaryData")
    yield from _key_errors("data", data)
    yield from _key_errors("binaryData", binary)
    yield from _base64_errors(document, "binaryData", binary)
    for key in (key for key in data if key in binary):
        yield invalid(Path("data").key(key), key, "duplicate of key present in binaryData")
    size = sum(len(text) if text.isascii() else len(text.encode()) for text in data.values())
    yield from _size_errors(size + _bytes_in(binary))
    yield from _frozen(document, old, ("data", "binaryData"))


def secret(document: Document, old: Document | None) -> Iterator[FieldError]:
    """A Secret's data is base64; plain stringData is merged into it."""
    plain = _values(document, "stringData")
    document.pop("stringData", None)
    document["type"] = kind = document.get("type") or "Opaque"
    if plain:
        encoded = {key: base64.b64encode(text.encode()).decode() for key, text in plain.items()}
        document["data"] = document.get("data", {}) | encoded
    data = _values(document, "data")
    yield from _key_errors("data", data)
    yield from _base64_errors(document, "data", data)
    yield from _size_errors(_bytes_in(data))
    yield from _needed_errors(document, kind, data)
    if old is not None and old.get("type") != kind:
        yield invalid("type", kind, "field is immutable")
    yield from _frozen(document, old, ("data",))


def service_account(document: Document, _old: Document | None) -> Iterable[FieldError]:
    """A ServiceAccount keeps only the names of its secrets."""
    for name in ("secrets", "imagePullSecrets"):
        references = document.pop(name, None)
        if references:
            document[name] = [{k: v for k, v in one.items() if k == "name"} for one in references]
    return ()


def lease(document: Document, _old: Document | None) -> Iterator[FieldError]:
    """A lease always has a spec and a positive duration."""
    document["spec"] = spec = dict(document.get("spec", {}))
    path = Path("spec")
    yield from time_errors(spec, path, ("acquireTime", "renewTime"), MICROS)
    duration, transitions = spec.get("leaseDurationSeconds", 1), spec.get("leaseTransitions", 0)
    if duration <= 0:
        yield invalid(path.child("leaseDurationSeconds"), duration, "must be greater than 0")
    if transitions < 0:
        message = "must be greater than or equal to 0"
        yield invalid(path.child("leaseTransitions"), transitions, message)


def _values(document: Document, name: str) -> dict[str, str]:
    """A map of strings. A null value becomes an empty string; an empty map is removed."""
    values: dict[str, str] = document.pop(name, None) or {}
    if None in values.values():
        values = {key: text or "" for key, text in values.items()}
    if values:
        document[name] = values
    return values


def _key_errors(name: str, values: Mapping[str, str]) -> Iterator[FieldError]:
    for key in values:
        if fault := _key_fault(key):
            yield invalid(Path(name).key(key), key, fault)


def _key_fault(key: str) -> str:
    """Why a key cannot be the name of a file; empty if it can."""
    if len(key) > _KEY_LIMIT:
        return f"must be no more than {_KEY_LIMIT} characters"
    if _KEY.fullmatch(key) is None:
        return _KEY_WORDS
    if key in (".", ".."):
        return f"must not be '{key}'"
    return "must not start with '..'" if key.startswith("..") else ""


def _base64_errors(
    document: Document, name: str, values: Mapping[str, str]
) -> Iterator[FieldError]:
    """The errors of invalid base64; valid values are stored in the canonical encoding."""
    canonical = {}
    for key, text in values.items():
        try:
            encoded = base64.b64encode(_from_base64(text)).decode()
        except ValueError:
            yield FieldError(Path(name).key(key), Problem.TYPE_INVALID, "must be base64", _HIDDEN)
        else:
            if encoded != text:
                canonical[key] = encoded
    if canonical:
        document[name] = {**values, **canonical}


def _from_base64(text: str) -> bytes:
    bare = text.translate(_WITHOUT_LINE_ENDS) if "\n" in text or "\r" in text else text
    return base64.b64decode(bare, validate=True)


def _bytes_in(values: Mapping[str, str]) -> int:
    """The decoded size of base64 values."""
    return sum(len(text) // 4 * 3 - text.count("=", -2) for text in values.values())


def _size_errors(size: int) -> Iterator[FieldError]:
    if size > _LARGEST:
        yield too_long("data", "", _LARGEST)


def _needed_errors(document: Document, kind: str, data: Mapping[str, str]) -> Iterator[FieldError]:
    annotations = document["metadata"].get("annotations", {})
    if kind == "kubernetes.io/service-account-token" and not annotations.get(_ACCOUNT):
        yield required(Path("metadata.annotations").key(_ACCOUNT))
    for names in _NEEDED.get(kind, ()):
        alternatives = names.split("|")
        if not any(name in data for name in alternatives):
            yield from (required(Path("data").key(name)) for name in alternatives)
        for name in _IN_JSON.intersection(alternatives) & data.keys():
            if not _is_json_object(data[name]):
                yield invalid(Path("data").key(name), _HIDDEN, "must be a JSON object")


def _is_json_object(text: str) -> bool:
    try:
        msgspec.json.decode(_from_base64(text), type=dict[str, Any])
    except (ValueError, RecursionError):  # of msgspec, of base64, of the characters
        return False
    return True


def _frozen(
    document: Document, old: Document | None, parts: tuple[str, ...]
) -> Iterator[FieldError]:
    """The errors of a changed immutable object: its content and the flag are fixed."""
    if old is None or not old.get("immutable"):
        return
    changed = [part for part in parts if document.get(part, {}) != old.get(part, {})]
    if not document.get("immutable"):
        changed.append("immutable")
    for part in changed:
        yield forbidden(part, "field is immutable when `immutable` is set")

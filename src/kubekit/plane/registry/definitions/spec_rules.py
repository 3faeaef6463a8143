"""Validates the spec of a CustomResourceDefinition, with the errors of Kubernetes.

`schema_rules` validates the schemas, `path_rules` the paths in a version, `cel` the rules in a
schema.
"""

import re
from collections.abc import Iterator, Sized
from typing import Final

from kubekit.api.fields import FieldError, Path, Problem, invalid, not_supported, required
from kubekit.api.kinds.apiextensions import (
    CrdConversion,
    CrdNames,
    CrdVersion,
    CustomResourceDefinitionSpec,
)
from kubekit.cel import definition_errors
from kubekit.plane.registry.definitions.path_rules import path_errors
from kubekit.plane.registry.definitions.schema_rules import schema_errors

MOST_LISTED: Final = 100  # versions, columns of one, short names, categories
MOST_RULES: Final = 100_000  # characters of all expressions; about a second to compile them

_SPEC: Final = Path("spec")
_NAMES: Final = _SPEC.child("names")
_SCOPES: Final = ("Cluster", "Namespaced")
_LABEL: Final = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?", re.ASCII)
_LABEL_LIMIT: Final = 63
_LABEL_WORDS: Final = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
    "alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', "
    f"regex used for validation is '{_LABEL.pattern}')"
)
_GROUP: Final = re.compile(
    r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*", re.ASCII
)
_GROUP_LIMIT: Final = 253
_GROUP_WORDS: Final = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    f"for validation is '{_GROUP.pattern}')"
)
_WARNING_LIMIT: Final = 256
_IMMUTABLE: Final = "field is immutable"


def spec_errors(name: str, spec: CustomResourceDefinitionSpec) -> Iterator[FieldError]:
    """The errors in the definition of this name."""
    if name != f"{spec.names.plural}.{spec.group}":
        yield invalid("metadata.name", name, 'must be spec.names.plural+"."+spec.group')
    yield from _group_errors(spec.group)
    if not spec.scope:
        yield required(_SPEC.child("scope"))
    elif spec.scope not in _SCOPES:
        yield not_supported(_SPEC.child("scope"), spec.scope, _SCOPES)
    if spec.preserve_unknown_fields:
        message = "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in "
        path = _SPEC.child("preserveUnknownFields")
        yield invalid(path, True, f"{message}spec.versions[*].schema instead")  # noqa: FBT003 -- it is the value
    yield from _versions_errors(spec.versions, _SPEC.child("versions"))
    yield from name_errors(spec.names, _NAMES)
    yield from _conversion_errors(spec.conversion, _SPEC.child("conversion"))


def change_errors(
    spec: CustomResourceDefinitionSpec, old: CustomResourceDefinitionSpec, *, established: bool
) -> Iterator[FieldError]:
    """The errors of changed immutable fields, which are fewer until it is established."""
    fixed = [
        (_SPEC.child("group"), spec.group, old.group),
        (_NAMES.child("plural"), spec.names.plural, old.names.plural),
    ]
    if established:
        fixed += [
            (_SPEC.child("scope"), spec.scope, old.scope),
            (_NAMES.child("kind"), spec.names.kind, old.names.kind),
        ]
    for path, now, before in fixed:
        if now != before:
            yield invalid(path, now, _IMMUTABLE)


def stored_errors(stored: list[str], spec: CustomResourceDefinitionSpec) -> Iterator[FieldError]:
    """The stored versions that are missing in the spec."""
    present = {version.name for version in spec.versions}
    for position, name in enumerate(stored):
        if name not in present:
            yield invalid(
                Path("status.storedVersions").at(position),
                name,
                f"missing from spec.versions; {name} was previously a storage version, and must "
                "remain in spec.versions until a storage migration ensures no data remains "
                f"persisted in {name} and removes {name} from status.storedVersions",
            )


def name_errors(names: CrdNames, path: Path) -> Iterator[FieldError]:
    """The errors in the names, requested or accepted."""
    for word, given in (("plural", names.plural), ("singular", names.singular)):
        yield from _label_errors(path.child(word), given) if given else [required(path.child(word))]
    for word, given in (("kind", names.kind), ("listKind", names.list_kind)):
        yield from _kind_errors(path.child(word), given)
    if names.kind and names.kind == names.list_kind:
        message = "kind and listKind may not be the same"
        yield invalid(path.child("listKind"), names.list_kind, message)
    for word, several in (("shortNames", names.short_names), ("categories", names.categories)):
        yield from _count_errors(path.child(word), several)
        for position, given in enumerate(several):
            yield from _label_errors(path.child(word).at(position), given)


def _count_errors(path: Path, several: Sized) -> Iterator[FieldError]:
    """An error if there are too many: the lists are searched on every request."""
    if len(several) > MOST_LISTED:
        message = f"must have at most {MOST_LISTED} items"
        yield FieldError(path, Problem.TOO_MANY, message, len(several))


def _group_errors(group: str) -> Iterator[FieldError]:
    path = _SPEC.child("group")
    if not group:
        yield required(path)
    elif len(group) > _GROUP_LIMIT:
        yield invalid(path, group, f"must be no more than {_GROUP_LIMIT} characters")
    elif _GROUP.fullmatch(group) is None:
        yield invalid(path, group, _GROUP_WORDS)
    elif "." not in group:
        yield invalid(path, group, "should be a domain with at least one dot")


def _label_fault(text: str) -> str:
    if len(text) > _LABEL_LIMIT:
        return f"must be no more than {_LABEL_LIMIT} characters"
    return "" if _LABEL.fullmatch(text) else _LABEL_WORDS


def _label_errors(path: Path, text: str) -> Iterator[FieldError]:
    if fault := _label_fault(text):
        yield invalid(path, text, fault)


def _kind_errors(path: Path, text: str) -> Iterator[FieldError]:
    if not text:
        yield required(path)
    elif fault := _label_fault(text.lower()):
        yield invalid(path, text, f"may have mixed case, but should otherwise match: {fault}")


def _conversion_errors(conversion: CrdConversion | None, path: Path) -> Iterator[FieldError]:
    strategy = conversion.strategy if conversion else "None"
    if not strategy:
        yield required(path.child("strategy"))
    elif strategy == "Webhook":
        message = "conversion webhooks are not served here; None changes the apiVersion alone"
        yield invalid(path.child("strategy"), strategy, message)
    elif strategy != "None":
        yield not_supported(path.child("strategy"), strategy, ("None", "Webhook"))
    elif conversion and conversion.webhook:
        yield invalid(
            path.child("webhook"), "...", "should not be set when strategy is not set to Webhook"
        )


def _versions_errors(versions: tuple[CrdVersion, ...], path: Path) -> Iterator[FieldError]:
    names = [version.name for version in versions]
    too_many = [*_count_errors(path, versions), *_rules_errors(versions, path)]
    yield from too_many
    if too_many:
        return
    if len(set(names)) < len(names):
        yield invalid(path, names, "must contain unique version names")
    if sum(version.storage for version in versions) != 1:
        yield invalid(path, names, "must have exactly one version marked as storage version")
    for position, version in enumerate(versions):
        yield from _version_errors(version, path.at(position))


def _rules_errors(versions: tuple[CrdVersion, ...], path: Path) -> Iterator[FieldError]:
    schemas = (v.schema.open_api_v3_schema for v in versions if v.schema)
    if sum(map(_rules_length, schemas)) > MOST_RULES:
        message = f"rules must have at most {MOST_RULES} characters together"
        yield FieldError(path, Problem.TOO_LONG, message)


def _rules_length(schema: object) -> int:
    """The length of all expressions in a schema, whether it is a valid schema or not."""
    length = 0
    todo = [schema]
    while todo:
        node = todo.pop()
        if isinstance(node, dict):
            texts = (node.get(name) for name in ("rule", "messageExpression"))
            length += sum(len(text) for text in texts if isinstance(text, str))
            todo += node.values()
        elif isinstance(node, list):
            todo += node
    return length


def _version_errors(version: CrdVersion, path: Path) -> Iterator[FieldError]:
    yield from _label_errors(path.child("name"), version.name)
    yield from _warning_errors(version, path.child("deprecationWarning"))
    columns = version.additional_printer_columns
    yield from _count_errors(path.child("additionalPrinterColumns"), columns)
    schema = version.schema.open_api_v3_schema if version.schema else None
    schema_path = path.child("schema", "openAPIV3Schema")
    if schema is None:
        yield required(schema_path, "schemas are required")
        return
    status = version.subresources is not None and version.subresources.status is not None
    wrong = schema_errors(schema, schema_path, status=status) or [
        *path_errors(version, schema, path)
    ]
    yield from wrong or definition_errors(schema, schema_path)


def _warning_errors(version: CrdVersion, path: Path) -> Iterator[FieldError]:
    text = version.deprecation_warning
    if text is None:
        return
    unprintable = next((at for at, c in enumerate(text) if not c.isprintable()), None)
    if not version.deprecated:
        yield invalid(path, text, "can only be set for deprecated versions")
    if not text:
        yield invalid(path, text, "must not be an empty string")
    elif len(text.encode()) > _WARNING_LIMIT:
        yield invalid(path, text, f"must be <= {_WARNING_LIMIT} characters long")
    elif unprintable is not None:
        message = "must only contain printable UTF-8 characters; non-printable character found"
        yield invalid(path, text, f"{message} at index {len(text[:unprintable].encode())}")

"""Environment variables of a container."""

from collections.abc import Iterator, Sequence

from compute.decide.validation.grammar import Taken, check_object_name
from kubekit.api.fields import FieldError, Path, forbidden, invalid, required
from kubekit.api.kinds.value_sources import EnvVar, EnvVarSource, KeySelector

_SOURCES = "configMapKeyRef, secretKeyRef, fieldRef or resourceFieldRef"


def check_environment(path: Path, variables: Sequence[EnvVar]) -> Iterator[FieldError]:
    names = Taken()
    for position, variable in enumerate(variables):
        at = path.at(position)
        yield from _check_name(at.child("name"), variable.name)
        yield from names.check(at.child("name"), variable.name)
        if variable.value_from is not None:
            yield from _check_source(at.child("valueFrom"), variable.value_from)
        if variable.value_from is not None and variable.value:
            yield forbidden(at.child("valueFrom"), "value is set too; keep one of the two")


def _check_name(path: Path, name: str) -> Iterator[FieldError]:
    if not name:
        yield required(path, "name the variable")
    elif "=" in name or "\0" in name:
        yield invalid(path, name, "must not contain '='")


def _check_source(path: Path, source: EnvVarSource) -> Iterator[FieldError]:
    keys = (
        ("configMapKeyRef", source.config_map_key_ref),
        ("secretKeyRef", source.secret_key_ref),
    )
    given = [ref for _, ref in keys if ref is not None]
    others = [ref for ref in (source.field_ref, source.resource_field_ref) if ref is not None]
    if not given and not others:
        yield required(path, f"set one of {_SOURCES}")
    if len(given) + len(others) > 1:
        yield forbidden(path, f"set only one of {_SOURCES}")
    for name, ref in keys:
        if ref is not None:
            yield from _check_key(path.child(name), ref)


def _check_key(path: Path, ref: KeySelector) -> Iterator[FieldError]:
    yield from check_object_name(path.child("name"), ref.name)
    if not ref.key:
        yield required(path.child("key"), "say which key")

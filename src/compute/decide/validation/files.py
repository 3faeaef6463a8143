"""Volumes whose files are the keys of a ConfigMap or a Secret."""

from collections.abc import Iterator
from typing import Final

from compute.decide.validation.grammar import check_object_name
from kubekit.api.fields import FieldError, Path, forbidden, invalid, required
from kubekit.api.kinds.value_sources import ConfigMapVolumeSource, KeyToPath, SecretVolumeSource

_ALL_MODES: Final = 0o777


def check_config_map(path: Path, source: ConfigMapVolumeSource) -> Iterator[FieldError]:
    yield from check_object_name(path.child("name"), source.name)
    yield from _check_mode(path.child("defaultMode"), source.default_mode)
    if source.items:
        yield forbidden(
            path.child("items"), "single keys cannot be chosen; remove this field to get all"
        )


def check_secret(path: Path, source: SecretVolumeSource) -> Iterator[FieldError]:
    yield from check_object_name(path.child("secretName"), source.secret_name)
    yield from _check_mode(path.child("defaultMode"), source.default_mode)
    for position, item in enumerate(source.items):
        yield from _check_item(path.child("items").at(position), item)


def _check_item(path: Path, item: KeyToPath) -> Iterator[FieldError]:
    if not item.key:
        yield required(path.child("key"), "say which key")
    if not item.path:
        yield required(path.child("path"), "say which file the key becomes")
    elif item.path.startswith("/") or ".." in item.path.split("/"):
        yield invalid(path.child("path"), item.path, "must be relative and must not contain '..'")
    yield from _check_mode(path.child("mode"), item.mode)


def _check_mode(path: Path, mode: int | None) -> Iterator[FieldError]:
    if mode is not None and not 0 <= mode <= _ALL_MODES:
        yield invalid(path, mode, "must be from 0 to 511, which is 0777 in octal")

"""Names, labels and annotations: those of the Workload, and those that its template gives to Instances."""

import re
from collections.abc import Collection, Iterator
from typing import Final

from compute.api import annotations, labels
from compute.decide.validation.grammar import LABEL_RULE, check_label, is_label
from kubekit.api.fields import FieldError, Path, forbidden, invalid, not_supported
from kubekit.api.meta import ObjectMeta, TemplateMeta
from kubekit.api.selectors import label_syntax

# The server truncates the requested prefix and adds a suffix of its own.
_GENERATED_PREFIX: Final = 58
_GENERATED_SUFFIX: Final = "xxxxx"

_SHARE: Final = re.compile(r"[1-9][0-9]{0,8}|([1-9][0-9]?|100)%")
_SWITCH: Final = ("true", "false")

# A user who could set a label of these domains could make an Instance look like another project's.
_OURS: Final = frozenset(
    key.partition("/")[0]
    for key in (
        labels.WORKLOAD_UID,
        labels.UPSTREAM_CLUSTER,
        labels.TOPOLOGY_CITY_CODE,
        labels.SERVICE_NAME,
    )
)
_ON_THE_WORKLOAD: Final = (
    annotations.PAUSED,
    annotations.MAX_UNAVAILABLE,
    annotations.PAUSED_CITIES,
    annotations.RESTARTED_CITIES,
    annotations.CITY_TEMPLATES,
    annotations.REPLACED_INSTANCES,
)


def check_name(path: Path, meta: ObjectMeta) -> Iterator[FieldError]:
    """The errors of a name. It has to be a DNS label: it is also the value of a label."""
    if meta.name or not meta.generate_name:
        yield from check_label(path.child("name"), meta.name)
    elif not is_label(meta.generate_name[:_GENERATED_PREFIX] + _GENERATED_SUFFIX):
        yield invalid(
            path.child("generateName"),
            meta.generate_name,
            f"the generated name {LABEL_RULE}",
        )
    if meta.namespace:
        yield from check_label(path.child("namespace"), meta.namespace)


def check_settings(path: Path, meta: ObjectMeta) -> Iterator[FieldError]:
    """Annotations of a Workload that control its rollouts."""
    at = path.child("annotations")
    paused = meta.annotations.get(annotations.PAUSED)
    if paused is not None and paused not in _SWITCH:
        yield not_supported(at.key(annotations.PAUSED), paused, _SWITCH)
    share = meta.annotations.get(annotations.MAX_UNAVAILABLE)
    if share is not None and not _SHARE.fullmatch(share):
        yield invalid(
            at.key(annotations.MAX_UNAVAILABLE),
            share,
            'must be a number of at least 1, such as "2", or a share from "1%" to "100%"',
        )


def check_template_metadata(
    path: Path, meta: TemplateMeta, ours: Collection[str] = ()
) -> Iterator[FieldError]:
    """``ours`` are the annotations of our domains that a user may set here."""
    at = path.child("labels")
    for key, value in meta.labels.items():
        yield from _check_key(at.key(key), key)
        fault = label_syntax.value_fault(value)
        if fault:
            yield invalid(at.key(key), value, f"as a value, {fault}")
    at = path.child("annotations")
    for key in meta.annotations:
        if key not in ours:
            yield from _check_key(at.key(key), key)


def _check_key(path: Path, key: str) -> Iterator[FieldError]:
    fault = label_syntax.key_fault(key)
    if fault:
        yield invalid(path, key, f"as a key, {fault}")
    elif key in _ON_THE_WORKLOAD:
        yield forbidden(path, "this belongs in metadata.annotations of the Workload; move it there")
    elif key.partition("/")[0] in _OURS:
        yield forbidden(path, "only the controllers set this; remove it")

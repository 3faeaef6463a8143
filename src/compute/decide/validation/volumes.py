"""Volumes of an Instance: disks, and files from ConfigMaps and Secrets."""

from collections.abc import Collection, Iterator, Sequence
from typing import Final

from compute.api.instance_spec import DiskPopulator, DiskSpec, DiskTemplate, Volume
from compute.decide.validation.grammar import Taken, check_label, check_object_name
from compute.decide.validation.metadata import check_template_metadata
from kubekit.api.fields import (
    FieldError,
    Path,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
)
from kubekit.api.kinds.value_sources import ConfigMapVolumeSource, KeyToPath, SecretVolumeSource
from kubekit.api.quantity import Quantity, QuantityError
from kubekit.api.selectors import label_syntax

_ALL_MODES: Final = 0o777

DISK_TYPES: Final = ("pd-standard",)
IMAGES: Final = ("datumcloud/ubuntu-2204-lts",)
FILESYSTEMS: Final = ("ext4",)
_STORAGE: Final = "storage"
_GIB: Final = Quantity.parse("1Gi")
_SMALLEST: Final = 10
_SMALLEST_WITH_IMAGE: Final = 25  # the size of the image, which is also the default
_LARGEST: Final = 100


def check_volumes(
    path: Path, volumes: Sequence[Volume], attached: Collection[str]
) -> Iterator[FieldError]:
    names, devices = Taken(), _Devices(volumes)
    for position, volume in enumerate(volumes):
        at = path.at(position)
        yield from check_label(at.child("name"), volume.name)
        yield from names.check(at.child("name"), volume.name)
        if volume.name not in attached:
            yield required(
                at,
                f'nothing attaches volume "{volume.name}"; '
                "name it in a volumeAttachments list or remove it",
            )
        yield from devices.check(at.child("disk", "deviceName"), volume)
        yield from _check_source(at, volume)


class _Devices:
    """The device names in use. A volume without one is named after its position."""

    def __init__(self, volumes: Sequence[Volume]) -> None:
        self._used = {
            f"persistent-disk-{position}"
            for position, volume in enumerate(volumes)
            if _chosen(volume) is None
        }

    def check(self, path: Path, volume: Volume) -> Iterator[FieldError]:
        name = _chosen(volume)
        if name is None:
            return
        fault = label_syntax.value_fault(name) if name else "it must not be empty"
        if fault:
            yield invalid(path, name, fault)
        elif name in self._used:
            yield duplicate(path, name, "another volume has this device name")
        self._used.add(name)


def _chosen(volume: Volume) -> str | None:
    return volume.disk.device_name if volume.disk else None


def _check_source(path: Path, volume: Volume) -> Iterator[FieldError]:
    sources = dict(_sources(path, volume))
    if not sources:
        yield required(path, "set disk, configMap or secret")
    first = next(iter(sources), "")
    for name, errors in sources.items():
        if name != first:
            yield forbidden(path.child(name), f"{first} is set too; keep one of the two")
        yield from errors


def _sources(path: Path, volume: Volume) -> Iterator[tuple[str, Iterator[FieldError]]]:
    """The sources that are set, each with its errors."""
    if volume.disk is not None:
        yield "disk", check_disk(path.child("disk", "template"), volume.disk.template)
    if volume.config_map is not None:
        yield "configMap", check_config_map(path.child("configMap"), volume.config_map)
    if volume.secret is not None:
        yield "secret", check_secret(path.child("secret"), volume.secret)


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


def check_disk(path: Path, template: DiskTemplate) -> Iterator[FieldError]:
    yield from check_template_metadata(path.child("metadata"), template.metadata)
    spec, at = template.spec, path.child("spec")
    if spec.type not in DISK_TYPES:
        yield not_supported(at.child("type"), spec.type, DISK_TYPES)
    if spec.populator is not None:
        yield from _check_populator(at.child("populator"), spec.populator)
    yield from _check_size(at.child("resources", "requests"), spec)


def _check_populator(path: Path, populator: DiskPopulator) -> Iterator[FieldError]:
    image, filesystem = populator.image, populator.filesystem
    if image is None and filesystem is None:
        yield required(path, "set image or filesystem")
    if image is not None and filesystem is not None:
        yield forbidden(path, "image and filesystem are both set; keep one of the two")
    if image is not None and image.name not in IMAGES:
        yield not_supported(path.child("image", "name"), image.name, IMAGES)
    if filesystem is not None and filesystem.type not in FILESYSTEMS:
        yield not_supported(path.child("filesystem", "type"), filesystem.type, FILESYSTEMS)


def _check_size(path: Path, spec: DiskSpec) -> Iterator[FieldError]:
    requests = spec.resources.requests if spec.resources else {}
    has_image = spec.populator is not None and spec.populator.image is not None
    for resource in requests:
        if resource != _STORAGE:
            yield not_supported(path.key(resource), resource, (_STORAGE,))
    if _STORAGE in requests:
        least = _SMALLEST_WITH_IMAGE if has_image else _SMALLEST
        yield from _check_storage(path.key(_STORAGE), requests[_STORAGE], least)
    elif not has_image:
        yield required(path.key(_STORAGE), f"from {_SMALLEST}Gi to {_LARGEST}Gi")


def _check_storage(path: Path, amount: int | str, least: int) -> Iterator[FieldError]:
    allowed = f"must be from {least}Gi to {_LARGEST}Gi, in whole Gi"
    try:
        size = Quantity.parse(amount)
    except QuantityError:
        yield invalid(path, amount, allowed)
        return
    gibibytes = size.floor_units(_GIB)
    whole = size == _GIB * gibibytes
    if not (whole and least <= gibibytes <= _LARGEST):
        yield invalid(path, amount, allowed)

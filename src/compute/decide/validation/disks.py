"""Disks made for each Instance: their class, what is on them at first, their size."""

from collections.abc import Iterator
from typing import Final

from compute.api.instance_spec import DiskPopulator, DiskSpec, DiskTemplate
from compute.decide.validation.metadata import check_template_metadata
from kubekit.api.fields import FieldError, Path, forbidden, invalid, not_supported, required
from kubekit.api.quantity import Quantity, QuantityError

DISK_TYPES: Final = ("pd-standard",)
IMAGES: Final = ("datumcloud/ubuntu-2204-lts",)
FILESYSTEMS: Final = ("ext4",)
_STORAGE: Final = "storage"
_GIB: Final = Quantity.parse("1Gi")
_SMALLEST: Final = 10
_SMALLEST_WITH_IMAGE: Final = 25  # what the image needs, and the size when none is given
_LARGEST: Final = 100


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

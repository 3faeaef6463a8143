"""What can be attached to an Instance."""

from collections.abc import Collection, Iterator, Sequence

from compute.api.instance_spec import Volume
from compute.decide.validation.disks import check_disk
from compute.decide.validation.files import check_config_map, check_secret
from compute.decide.validation.grammar import Taken, check_label
from kubekit.api.fields import FieldError, Path, duplicate, forbidden, invalid, required
from kubekit.api.selectors import label_syntax


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
    """Names of devices. Each volume that does not choose one holds that of its position."""

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
    """The sources that are set, each with what is wrong with it."""
    if volume.disk is not None:
        yield "disk", check_disk(path.child("disk", "template"), volume.disk.template)
    if volume.config_map is not None:
        yield "configMap", check_config_map(path.child("configMap"), volume.config_map)
    if volume.secret is not None:
        yield "secret", check_secret(path.child("secret"), volume.secret)

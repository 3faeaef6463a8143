"""Volumes that a container or a machine attaches."""

from collections.abc import Iterator, Mapping, Sequence

from compute.api.instance_spec import Volume, VolumeAttachment
from compute.decide.validation.grammar import Taken, nearest
from kubekit.api.fields import FieldError, Path, forbidden, invalid, not_found, required


def check_attachments(
    path: Path, attachments: Sequence[VolumeAttachment], volumes: Mapping[str, Volume]
) -> Iterator[FieldError]:
    mounts = Taken()
    for position, attachment in enumerate(attachments):
        at = path.at(position)
        volume = volumes.get(attachment.name)
        if volume is None:
            yield not_found(at.child("name"), attachment.name, _hint(attachment.name, volumes))
        if attachment.mount_path is not None:
            yield from _check_path(at.child("mountPath"), attachment.mount_path, mounts)
        if attachment.mount_path is not None and volume is not None and _is_raw(volume):
            yield forbidden(
                at.child("mountPath"),
                f'the disk of volume "{volume.name}" has nothing on it to mount; '
                "give it a populator, or leave mountPath out to get the bare device",
            )


def _check_path(path: Path, mount: str, mounts: Taken) -> Iterator[FieldError]:
    parts = [part for part in mount.split("/") if part not in ("", ".")]
    if not mount:
        yield required(path, "say where to mount it, or leave mountPath out")
    elif not mount.startswith("/"):
        yield invalid(path, mount, "must start with '/'")
    elif ".." in parts:
        yield invalid(path, mount, "must not contain '..'")
    elif not parts:
        yield invalid(path, mount, "must not be the root: it would hide everything else")
    else:
        yield from mounts.check(path, mount, key="/".join(parts))


def _is_raw(volume: Volume) -> bool:
    return volume.disk is not None and volume.disk.template.spec.populator is None


def _hint(name: str, volumes: Mapping[str, Volume]) -> str:
    near = nearest(name, volumes)
    missing = "no volume of this name is in spec.template.spec.volumes"
    return f'{missing}; did you mean "{near}"?' if near else f"{missing}; add it there"

"""Containers of a sandbox."""

from collections.abc import Iterator, Mapping

from compute.api.instance_spec import Container, Sandbox, Volume
from compute.decide.validation.attachments import check_attachments
from compute.decide.validation.environment import check_environment
from compute.decide.validation.grammar import Taken, check_label, check_object_name
from compute.decide.validation.ports import check_ports
from kubekit.api.fields import FieldError, Path, forbidden, invalid, required


def check_sandbox(
    path: Path, sandbox: Sandbox, volumes: Mapping[str, Volume]
) -> Iterator[FieldError]:
    containers = path.child("containers")
    if not sandbox.containers:
        yield required(containers, "name at least one container")
    names = Taken()
    for position, container in enumerate(sandbox.containers):
        at = containers.at(position)
        yield from check_label(at.child("name"), container.name)
        yield from names.check(at.child("name"), container.name)
        yield from _check_container(at, container, volumes)
    for position, secret in enumerate(sandbox.image_pull_secrets):
        yield from check_object_name(
            path.child("imagePullSecrets").at(position).child("name"), secret.name
        )


def _check_container(
    path: Path, container: Container, volumes: Mapping[str, Volume]
) -> Iterator[FieldError]:
    yield from _check_image(path.child("image"), container.image)
    yield from check_environment(path.child("env"), container.env)
    yield from check_ports(path.child("ports"), container.ports)
    yield from check_attachments(
        path.child("volumeAttachments"), container.volume_attachments, volumes
    )
    if container.resources is not None:
        yield forbidden(
            path.child("resources"), "the instance type decides the size; remove this field"
        )


def _check_image(path: Path, image: str) -> Iterator[FieldError]:
    if not image:
        yield required(path, "name the image to run")
    elif any(character.isspace() for character in image):
        yield invalid(path, image, "must not contain spaces or line breaks")

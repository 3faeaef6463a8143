"""What `compute plane users` does: certificates for users of a plane, and their roles in a project."""

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final

import click
import msgspec
import yaml

from compute.app.kubeconfig import kubeconfig
from compute.app.planes import PROJECT_USERS, PlaneRef
from compute.app.system_environment import system
from compute.app.world_folder import WorldFolder
from compute.cli.exits import Failure
from compute.cli.local.running_world import run_request, running
from compute.cli.operate import project_users
from kubekit.plane import (
    Authority,
    IssuedCertificate,
    PlaneDirectory,
    PlaneError,
    User,
    write_private,
)

_SYSTEM: Final = "system:"


@dataclass(frozen=True, slots=True, kw_only=True)
class _AddOptions:
    """The options of `add`."""

    groups: tuple[str, ...]
    hours: int
    out: Path | None
    project: str
    role: str | None


def add_user(name: str, data: Path, **arguments: object) -> int:
    """Make a kubeconfig for a user."""
    folder = WorldFolder(data)
    options = msgspec.convert(arguments, _AddOptions)
    _refuse_reserved(name, options)
    if options.project:
        running(folder)
    issued, url = _issued(folder, name, options), _url(folder.data)
    if options.project:
        run_request(
            project_users.grant_role(
                folder, options.project, name, options.role or project_users.DEFAULT_ROLE
            )
        )
    content = _kubeconfig(folder, name, options, url, issued)
    if options.out is None:
        click.echo(content, nl=False)
    else:
        write_private(options.out, content)
    for line in _summary(folder, name, options, issued):
        click.echo(line, err=True)
    return 0


def remove_user(name: str, project: str, data: Path) -> int:
    """Revoke the role of a user in a project."""
    folder = WorldFolder(data)
    running(folder)
    if run_request(project_users.revoke_role(folder, project, name)):
        click.echo(f"{name} no longer has a role in the project {project}.")
    else:
        click.echo(f"{name} was not added to the project {project}: there is nothing to remove.")
    return 0


def revoke_certificate(serial: str, data: Path) -> int:
    """Revoke a certificate."""
    try:
        number = int(serial, 16)
    except ValueError as problem:
        message = f"{serial} is not a serial number; `compute plane users add` prints it"
        raise click.BadParameter(message, param_hint="SERIAL") from problem
    authority = _authority(data)
    try:
        authority.revoke(number)
    except PlaneError as refusal:
        raise Failure(str(refusal)) from refusal
    click.echo(f"The certificate with the serial number {number:x} is revoked.")
    return 0


def _refuse_reserved(name: str, options: _AddOptions) -> None:
    """Refuse names that are reserved for the system."""
    if not name.strip():
        raise click.BadParameter("a user needs a name", param_hint="NAME")
    if name.startswith((_SYSTEM, PROJECT_USERS)):
        message = f"names that start with {_SYSTEM} or {PROJECT_USERS} are reserved: {name}"
        raise click.BadParameter(message, param_hint="NAME")
    for group in options.groups:
        if group.startswith(_SYSTEM):
            message = f"groups that start with {_SYSTEM} are reserved: {group}"
            raise click.BadParameter(message, param_hint="--group")
    if options.role and not options.project:
        raise click.BadParameter("a role needs --project PROJECT", param_hint="--role")


def _issued(folder: WorldFolder, name: str, options: _AddOptions) -> IssuedCertificate:
    authority, user = _authority(folder.data), User(name, options.groups)
    try:
        return authority.issue(user, timedelta(hours=options.hours), system().now())
    except PlaneError as refusal:
        raise Failure(str(refusal)) from refusal


def _kubeconfig(
    folder: WorldFolder, name: str, options: _AddOptions, url: str, issued: IssuedCertificate
) -> bytes:
    """A file with one context: the project, or the plane at the root of the server."""
    authority = (folder.data / "pki" / "ca.crt").read_bytes()
    if not options.project:
        return kubeconfig(url, authority, issued.pair)
    ref = PlaneRef("project", options.project)
    return kubeconfig(url + ref.prefix, authority, issued.pair, name=ref.context, user=name)


def _summary(
    folder: WorldFolder, name: str, options: _AddOptions, issued: IssuedCertificate
) -> Iterator[str]:
    """What the user may do and until when, and how to revoke it earlier."""
    until = f"until {issued.until:%Y-%m-%d %H:%M} UTC. To revoke it earlier:"
    if options.project:
        yield f"{name} is {options.role or project_users.DEFAULT_ROLE} of the project {options.project} {until}"
        removal = f"plane users remove {shlex.quote(name)} --project {options.project}"
        yield f"  {folder.command(removal)}"
    else:
        yield f"{name} has access {until}"
    yield f"  {folder.command(f'plane users revoke {issued.serial:x}')}"


def _authority(data: Path) -> Authority:
    try:
        return PlaneDirectory(data).authority()
    except PlaneError as refusal:
        serve = f"compute plane serve --data {shlex.quote(str(data))}"
        raise Failure(f"{refusal}; `{serve}` makes one", next_step=serve) from refusal


def _url(data: Path) -> str:
    """The URL of the plane when it last ran."""
    file = data / "kubeconfig"
    try:
        clusters = yaml.safe_load(file.read_bytes())["clusters"]
        return str(clusters[0]["cluster"]["server"])
    except (OSError, yaml.YAMLError, KeyError, IndexError, TypeError) as problem:
        raise Failure(
            f"{file} has no URL of the plane: start the plane once",
            next_step=f"compute plane serve --data {shlex.quote(str(data))}",
        ) from problem

"""`compute plane-users`: certificates for users of a plane, and their roles in a project."""

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final

import click
import msgspec
import yaml

from compute.app.folders import Folder
from compute.app.kubeconfig import kubeconfig
from compute.app.planes import PROJECT_USERS, PlaneRef
from compute.app.system_environment import system
from compute.app.world_folder import ENVIRONMENT, WorldFolder, default_data
from compute.cli import project_users
from compute.cli.up_status import asked
from kubekit.plane import (
    Authority,
    IssuedCertificate,
    PlaneDirectory,
    PlaneError,
    User,
    write_private,
)

_LONGEST: Final = 24 * 365
_SYSTEM: Final = "system:"
_DEFAULT_ROLE: Final = "editor"
_data = click.option(
    "--data", "place", metavar="DIR", type=Folder(path_type=Path, file_okay=False),
    default=default_data, show_default="~/.local/share/compute",
    callback=lambda _context, _option, data: WorldFolder(data.resolve()),
    help=f"The folder of the plane, or of the world. Also by {ENVIRONMENT}.",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wish:
    """The options of `add`."""

    groups: tuple[str, ...]
    hours: int
    out: Path | None
    project: str
    role: str | None


@click.group(name="plane-users")
def command() -> None:
    """Let users into a plane, each with a certificate of their own.

    Roles say what a user may do. In a world, --project gives one; elsewhere kubectl does:
    kubectl create rolebinding, kubectl auth can-i --as NAME.
    """


@command.command()
@click.argument("name")
@click.option(
    "--project", metavar="PROJECT", default="",
    help="The project of a running world to add the user to. The kubeconfig leads there.",
)  # fmt: skip
@click.option(
    "--role", type=click.Choice(list(project_users.ROLES)),
    help=f"What the user may do in the project.  [default: {_DEFAULT_ROLE}]",
)  # fmt: skip
@click.option(
    "--group", "groups", multiple=True, metavar="GROUP",
    help="A group that the user is in. May be given several times.",
)  # fmt: skip
@click.option(
    "--hours", type=click.IntRange(1, _LONGEST), default=24, show_default=True,
    help="How long the certificate holds.",
)  # fmt: skip
@click.option(
    "--out", metavar="FILE", type=click.Path(path_type=Path, dir_okay=False),
    help="Where to write it, for you alone to read; without this, to stdout.",
)  # fmt: skip
@_data
def add(name: str, place: WorldFolder, **options: object) -> int:
    """Make a kubeconfig for a user. It holds the only copy of the user's key."""
    wish = msgspec.convert(options, _Wish)
    _refuse_reserved(name, wish)
    if wish.project:
        place.require()
    issued, url = _issued(place, name, wish), _url(place.data)
    if wish.project:
        asked(project_users.give(place, wish.project, name, wish.role or _DEFAULT_ROLE))
    content = _kubeconfig(place, name, wish, url, issued)
    if wish.out is None:
        click.echo(content, nl=False)
    else:
        write_private(wish.out, content)
    for line in _summary(place, name, wish, issued):
        click.echo(line, err=True)
    return 0


@command.command()
@click.argument("name")
@click.option(
    "--project", metavar="PROJECT", required=True, help="The project to remove the user from."
)
@_data
def remove(name: str, project: str, place: WorldFolder) -> int:
    """Take away the role that `add` gave a user in a project. It is gone for the next request."""
    place.require()
    if asked(project_users.take(place, project, name)):
        click.echo(f"{name} has no role in the project {project} any more.")
    else:
        click.echo(f"{name} was not added to the project {project}: there is nothing to remove.")
    return 0


@command.command()
@click.argument("serial")
@_data
def revoke(serial: str, place: WorldFolder) -> int:
    """Take a certificate no more. A plane that runs notices within a minute."""
    try:
        number = int(serial, 16)
    except ValueError as problem:
        message = f"{serial} is no serial number; `compute plane-users add` prints it"
        raise click.BadParameter(message, param_hint="SERIAL") from problem
    authority = _authority(place.data)
    try:
        authority.revoke(number)
    except PlaneError as refusal:
        raise click.ClickException(str(refusal)) from refusal
    click.echo(f"A certificate with the serial number {number:x} is not taken any more.")
    return 0


def _refuse_reserved(name: str, wish: _Wish) -> None:
    """Refuse names by which a certificate would pass for a part of the system."""
    if not name.strip():
        raise click.BadParameter("a user needs a name", param_hint="NAME")
    if name.startswith((_SYSTEM, PROJECT_USERS)):
        message = f"names that begin with {_SYSTEM} or {PROJECT_USERS} are reserved: {name}"
        raise click.BadParameter(message, param_hint="NAME")
    for group in wish.groups:
        if group.startswith(_SYSTEM):
            message = f"groups that begin with {_SYSTEM} are reserved: {group}"
            raise click.BadParameter(message, param_hint="--group")
    if wish.role and not wish.project:
        raise click.BadParameter("a role needs --project PROJECT", param_hint="--role")


def _issued(place: WorldFolder, name: str, wish: _Wish) -> IssuedCertificate:
    authority, user = _authority(place.data), User(name, wish.groups)
    try:
        return authority.issue(user, timedelta(hours=wish.hours), system().now())
    except PlaneError as refusal:
        raise click.ClickException(str(refusal)) from refusal


def _kubeconfig(
    place: WorldFolder, name: str, wish: _Wish, url: str, issued: IssuedCertificate
) -> bytes:
    """A file with one context: the project, or the plane that the server has at its root."""
    authority = (place.data / "pki" / "ca.crt").read_bytes()
    if not wish.project:
        return kubeconfig(url, authority, issued.pair)
    ref = PlaneRef("project", wish.project)
    return kubeconfig(url + ref.prefix, authority, issued.pair, name=ref.context, user=name)


def _summary(
    place: WorldFolder, name: str, wish: _Wish, issued: IssuedCertificate
) -> Iterator[str]:
    """What the user may do and until when, and how to end it before."""
    until = f"until {issued.until:%Y-%m-%d %H:%M} UTC. To end it before:"
    if wish.project:
        yield f"{name} is {wish.role or _DEFAULT_ROLE} of the project {wish.project} {until}"
        removal = f"plane-users remove {shlex.quote(name)} --project {wish.project}"
        yield f"  {place.command(removal)}"
    else:
        yield f"{name} may come in {until}"
    yield f"  {place.command(f'plane-users revoke {issued.serial:x}')}"


def _authority(data: Path) -> Authority:
    try:
        return PlaneDirectory(data).authority()
    except PlaneError as refusal:
        message = f"{refusal}; `compute plane --data {shlex.quote(str(data))}` makes one"
        raise click.ClickException(message) from refusal


def _url(data: Path) -> str:
    """Where the plane is, or was last."""
    file = data / "kubeconfig"
    try:
        clusters = yaml.safe_load(file.read_bytes())["clusters"]
        return str(clusters[0]["cluster"]["server"])
    except (OSError, yaml.YAMLError, KeyError, IndexError, TypeError) as problem:
        message = f"{file} does not say where the plane is: start the plane once"
        raise click.ClickException(message) from problem

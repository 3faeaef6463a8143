"""`compute plane-users`: certificates for those who may ask a plane for something."""

import shlex
from datetime import timedelta
from pathlib import Path
from typing import Final

import click
import yaml

from compute.app.environment import system
from compute.app.folders import Folder
from compute.app.kubeconfig import kubeconfig
from compute.plane.http.certificates import Authority, CertificatesRefused
from compute.plane.privatefiles import write_private
from compute.plane.users import User

_LONGEST: Final = 24 * 365
_data = click.option(
    "--data", required=True, metavar="DIR", type=Folder(path_type=Path, file_okay=False),
    help="The folder of the plane.",
)  # fmt: skip


@click.group(name="plane-users")
def command() -> None:
    """Let users into a plane, each with a certificate of his own.

    What they may do is said by roles: kubectl create rolebinding, kubectl auth can-i --as NAME.
    """


@command.command()
@click.argument("name")
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
def add(name: str, groups: tuple[str, ...], hours: int, out: Path | None, data: Path) -> int:
    """Make a kubeconfig for a user. It holds the only copy of his key."""
    if not name.strip():
        raise click.BadParameter("a user needs a name", param_hint="NAME")
    authority = _authority(data)
    url = _url(data)
    try:
        issued = authority.issue(User(name, groups), timedelta(hours=hours), system().now())
    except CertificatesRefused as refusal:
        raise click.ClickException(str(refusal)) from refusal
    pem = (data / "pki" / "ca.crt").read_bytes()
    content = kubeconfig(url, pem, issued.pair)
    if out is None:
        click.echo(content, nl=False)
    else:
        write_private(out, content)
    click.echo(
        f"{name} may come in until {issued.until:%Y-%m-%d %H:%M} UTC. To end it before:\n"
        f"  compute plane-users revoke {issued.serial:x} --data {shlex.quote(str(data))}",
        err=True,
    )
    return 0


@command.command()
@click.argument("serial")
@_data
def revoke(serial: str, data: Path) -> int:
    """Take a certificate no more. A plane that runs notices within a minute."""
    try:
        number = int(serial, 16)
    except ValueError as problem:
        message = f"{serial} is no serial number; `compute plane-users add` has told it"
        raise click.BadParameter(message, param_hint="SERIAL") from problem
    authority = _authority(data)
    try:
        authority.revoke(number)
    except CertificatesRefused as refusal:
        raise click.ClickException(str(refusal)) from refusal
    click.echo(f"A certificate with the serial number {number:x} is not taken any more.")
    return 0


def _authority(data: Path) -> Authority:
    try:
        return Authority(data / "pki")
    except CertificatesRefused as refusal:
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

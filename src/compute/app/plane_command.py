"""`compute plane`: a small Kubernetes API out of one folder."""

import asyncio
import os
import shlex
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import click
import uvloop

from compute.app import definitions
from compute.app.kubeconfig import reachable
from compute.app.serving import Serving, serving, told_to_stop
from compute.plane.http.authentication import TokensRefused
from compute.plane.http.certificates import CertificatesRefused
from compute.plane.http.server import CannotListen, is_loopback
from compute.plane.registry import builtins
from compute.plane.registry.kinds import Kind, Kinds
from compute.plane.store.failures import Busy, Unreadable, WritesStopped

_PORT: Final = 7443
# Each of these says in its own words what is wrong, where, and what to do.
_SPOKEN: Final = (
    definitions.BadFile, Busy, CannotListen, CertificatesRefused, TokensRefused, Unreadable,
    WritesStopped,
)  # fmt: skip


class _Folder(click.Path):
    """A folder that was named. An unset variable must not mean this one."""

    def convert(
        self,
        value: str | os.PathLike[str],
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> str | bytes | os.PathLike[str]:
        if not str(value):
            self.fail("the name is empty; write . for this folder", param, ctx)
        return super().convert(value, param, ctx)


@click.command()
@click.option(
    "--data", required=True, metavar="DIR", type=_Folder(path_type=Path, file_okay=False),
    help="Where everything is kept; made if it is not there.",
)  # fmt: skip
@click.option(
    "--port", type=click.IntRange(0, 65535), default=_PORT, show_default=True,
    help="The port to listen on; 0 takes any that is free.",
)  # fmt: skip
@click.option(
    "--bind", metavar="ADDRESS", default="127.0.0.1", show_default=True,
    help="The address to listen on. Another than the loopback is reachable from other machines.",
)  # fmt: skip
@click.option(
    "--crds", multiple=True, metavar="DIR", type=click.Path(path_type=Path),
    help="A folder of CustomResourceDefinitions to serve as well. May be given several times.",
)  # fmt: skip
def command(data: Path, port: int, bind: str, crds: Sequence[Path]) -> int:
    """Serve a Kubernetes API from a folder of this machine.

    It serves this project's kinds, namespaces, config maps, secrets, events and leases, and the
    kinds of any CustomResourceDefinitions. DIR/kubeconfig lets kubectl in.
    """
    _keep_standard_streams()
    try:
        more = [kind for folder in crds for kind in definitions.read(folder)]
        _warn_of_rules(more)
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(_serve(data, _kinds(more), (bind, port)))
    except _SPOKEN as error:
        raise click.ClickException(str(error)) from error
    except OSError as error:
        where = error.filename or data
        raise click.ClickException(f"{where}: cannot be used: {error.strerror}") from error
    return 0


async def _serve(data: Path, kinds: Kinds, address: tuple[str, int]) -> None:
    stop = asyncio.ensure_future(told_to_stop())
    await asyncio.sleep(0)  # from here on a signal is heard
    loop = asyncio.get_running_loop()
    begun = loop.time()
    _say(f"Opening {data}")
    async with serving(data, kinds, address) as opened:
        _introduce(data, opened, loop.time() - begun)
        await stop
        _say("Stopping.")
    _say("Stopped. Everything that was acknowledged is kept.")


def _introduce(data: Path, opened: Serving, seconds: float) -> None:
    kubeconfig = shlex.quote(str((data / "kubeconfig").resolve()))
    _say(
        f"Serving {len(opened.plane.kinds)} kinds and {opened.objects:,} objects at "
        f"{reachable(opened.server.url)}, ready after {seconds:.2f} s.\n"
        f"{_warning(opened.server.url)}\n"
        "In another terminal:\n"
        f"  export KUBECONFIG={kubeconfig}\n"
        "  kubectl api-resources\n"
        "\n"
        "Ctrl-C stops it."
    )


def _warning(url: str) -> str:
    if is_loopback(urlsplit(url).hostname or ""):
        return ""
    return "Other machines can reach it, and whoever has the token may do everything.\n"


def _kinds(more: Sequence[Kind]) -> Kinds:
    """Ours and more. A definition of ours may be given again, but not another of its name."""
    ours = builtins.everything()
    shapes: dict[str, set[tuple[str, bool]]] = {}
    for kind in ours:
        shapes.setdefault(kind.resource.crd_name, set()).add(_shape(kind))
    for kind in more:
        name = kind.resource.crd_name
        if name in shapes and _shape(kind) not in shapes[name]:
            raise definitions.BadFile(
                f"--crds: {name} is served already, in another version or scope; leave it out"
            )
    return ours.with_kinds(more)


def _shape(kind: Kind) -> tuple[str, bool]:
    return kind.resource.version, kind.resource.namespaced


def _warn_of_rules(kinds: Sequence[Kind]) -> None:
    """Say it, or somebody's tests pass here and fail on a cluster."""
    for kind in kinds:
        if _has_rules(kind.schema):
            _say(
                f"Note: the rules of {kind.resource.crd_name} in x-kubernetes-validations are not "
                "evaluated."
            )


def _has_rules(schema: object) -> bool:
    match schema:
        case dict():
            return "x-kubernetes-validations" in schema or any(map(_has_rules, schema.values()))
        case list():
            return any(map(_has_rules, schema))
        case _:
            return False


def _keep_standard_streams() -> None:
    """Put nothing in the place of streams that were closed: the loop refuses to close their numbers.

    Without this, the first sockets would get those numbers.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


def _say(text: str) -> None:
    """Print a line. Nobody need be there to read it: the server goes on."""
    try:
        click.echo(text)
    except BrokenPipeError:
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)

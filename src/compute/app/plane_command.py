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

from compute.api.structural_nodes import Document
from compute.app import definitions, logs, process
from compute.app.folders import Folder
from compute.app.kubeconfig import reachable
from compute.app.serving import Serving, resealing_when_told, serving, told_to_stop
from compute.plane.http.authentication import TokensRefused
from compute.plane.http.certificates import CertificatesRefused
from compute.plane.http.server import CannotListen, is_loopback
from compute.plane.identity.webtokens import KeyRefused
from compute.plane.registry import builtins
from compute.plane.registry.definitions.starting import DefinitionRefused
from compute.plane.store.failures import Busy, KeysRefused, Unreadable, WritesStopped

_PORT: Final = 7443
# Each of these says in its own words what is wrong, where, and what to do.
_SPOKEN: Final = (
    definitions.BadFile, Busy, CannotListen, CertificatesRefused, DefinitionRefused, KeyRefused,
    KeysRefused, TokensRefused, process.Unsafe, Unreadable, WritesStopped,
)  # fmt: skip


@click.command()
@click.option(
    "--data", required=True, metavar="DIR", type=Folder(path_type=Path, file_okay=False),
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
@click.option(
    "--log-level", type=click.Choice(logs.LEVELS), default="info", show_default=True,
    help="What is told on stderr of its work: this, and what is worse.",
)  # fmt: skip
@click.option(
    "--user", metavar="NAME", default="",
    help="Whom to go on as, before anything is opened, where root starts it.",
)  # fmt: skip
def command(data: Path, port: int, bind: str, crds: Sequence[Path], **conduct: str) -> int:
    """Serve a Kubernetes API from a folder of this machine.

    It serves this project's kinds, namespaces, config maps, secrets, events and leases, and the
    kinds of any CustomResourceDefinitions. DIR/kubeconfig lets kubectl in.
    """
    _keep_standard_streams()
    try:
        _take_care(data, conduct["user"])
        more = [document for folder in crds for document in definitions.read(folder)]
        every = definitions.joined(builtins.definitions(), more)
        with (
            logs.shown(conduct["log_level"]),
            asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner,
        ):
            runner.run(_serve(data, every, (bind, port)))
    except _SPOKEN as error:
        raise click.ClickException(str(error)) from error
    except OSError as error:
        where = error.filename or data
        raise click.ClickException(f"{where}: cannot be used: {error.strerror}") from error
    return 0


def _take_care(data: Path, user: str) -> None:
    """See to it that nobody else gets at anything. Memory is closed last: a new user opens it."""
    if user:
        process.become(user, data)
    process.harden()
    mended = process.keep_private(data)
    if mended:
        _say(mended)


async def _serve(data: Path, every: Sequence[Document], address: tuple[str, int]) -> None:
    stop = asyncio.ensure_future(told_to_stop())
    await asyncio.sleep(0)  # from here on a signal is heard
    loop = asyncio.get_running_loop()
    begun = loop.time()
    _say(f"Opening {data}")
    async with (
        serving(data, builtins.native(), address, every) as opened,
        resealing_when_told(opened.plane.store),
    ):
        _introduce(data, opened, loop.time() - begun)
        await stop
        failure = opened.plane.store.stopped
        _say("Stopping.")
    if failure is None:
        _say("Stopped. Everything that was acknowledged is kept.")
    else:
        _say(f"Stopped. Nothing could be written any more: {failure}")


def _introduce(data: Path, opened: Serving, seconds: float) -> None:
    kubeconfig = shlex.quote(str((data / "kubeconfig").resolve()))
    _say(
        f"Serving {len(opened.plane.kinds)} kinds and {opened.objects:,} objects at "
        f"{reachable(opened.server.url)}, ready after {seconds:.2f} s.\n"
        f"{_warning(opened.server.url)}{_warning_of_root()}\n"
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


def _warning_of_root() -> str:
    if not process.is_root():
        return ""
    return "It runs as root, which it need not: --user NAME lets it go on as somebody else.\n"


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
    """Print lines, with the names in them spelled out. Nobody need be there to read: it goes on."""
    shown = (c if c.isprintable() or c == "\n" else ascii(c)[1:-1] for c in text)
    try:
        click.echo("".join(shown))
    except BrokenPipeError:
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)

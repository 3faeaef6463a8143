"""The root command. Commands are named here and imported only when one is called."""

import importlib
import os
import sys
from collections.abc import Sequence
from typing import Final

import click

from compute.cli import streams
from compute.cli.exits import Exit, Failure
from compute.cli.tables import plain

# For each command its module and its line in the help.
_COMMANDS: Final = {
    "plan": ("compute.cli.plan", "Show what Workload manifests would create, and what is wrong."),
    "up": ("compute.cli.up", "Start the whole platform on this machine."),
    "down": ("compute.cli.down", "Stop the platform on this machine."),
    "cell": ("compute.cli.cell", "Cut cells off from all other planes, and connect them again."),
    "plane": ("compute.cli.plane", "Serve a Kubernetes API from a folder of this machine."),
    "plane-users": ("compute.cli.plane_users", "Give users access to a plane or a project."),
    "plane-keys": ("compute.cli.plane_keys", "Show and change the keys that seal secrets."),
}


class LazyGroup(click.Group):
    """A group that lists its commands without importing them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        command: click.Command = importlib.import_module(_COMMANDS[cmd_name][0]).command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in _COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="datum-compute", message="%(version)s")
def root() -> None:
    """Run containers in the cities you name."""


def run(arguments: Sequence[str]) -> int:
    """Run one command. An error is one sentence on stderr and an exit code."""
    streams.prepare()
    try:
        sentence, code = _run(arguments)
        sys.stdout.flush()  # keeps the order of output and error in a log
    except BrokenPipeError:
        streams.discard_output()
        return Exit.OK
    except OSError as error:
        streams.discard_output()
        sentence, code = f"Error: the output cannot be written: {error.strerror}", Exit.ERROR
    except Exception as error:
        if os.environ.get("COMPUTE_DEBUG"):
            raise
        fault = plain(f"{type(error).__name__}: {error}")
        sentence = f"Error: a bug of compute: {fault}; COMPUTE_DEBUG=1 shows where"
        code = Exit.ERROR
    if sentence:
        print(sentence, file=sys.stderr)
    return code


def _run(arguments: Sequence[str]) -> tuple[str, int]:
    try:
        code = root.main(list(arguments), prog_name="compute", standalone_mode=False)
    except (Failure, click.ClickException, click.Abort, KeyboardInterrupt) as error:
        return _failure(error)
    return "", code if isinstance(code, int) else Exit.OK


def _failure(error: BaseException) -> tuple[str, Exit]:
    match error:
        case Failure():
            return f"Error: {plain(str(error))}", error.code
        case click.exceptions.NoArgsIsHelpError():
            return error.format_message(), Exit.USAGE
        case click.UsageError():
            context = getattr(error, "ctx", None)
            path = context.command_path if context else "compute"
            sentence = plain(error.format_message()).rstrip(".")
            return f"Error: {sentence}; see `{path} --help`", Exit.USAGE
        case click.ClickException():  # an error of a command that uses click
            return f"Error: {plain(error.format_message())}", Exit.ERROR
        case _:
            return "Interrupted.", Exit.INTERRUPTED

"""The root command: its help, its commands, and how each of them ends.

Plugins of datumctl and kubectl are asked by `--plugin-manifest` and `__complete`; the answers import no
command except the one whose words are being completed.
"""

import os
import sys
from collections.abc import Sequence
from typing import Final

import click

from compute.cli import streams
from compute.cli.command_table import COMMANDS
from compute.cli.exits import Exit, Failure, Quit
from compute.cli.invocation import forget_flags, help_step, program, spelled
from compute.cli.output.formats import wants_json
from compute.cli.output.tables import plain
from compute.cli.shell.groups import LazyGroup

_HELP: Final = """Run containers in the cities you name.

Which city is stuck, why, and what to type next: `compute status`.
"""

_MANIFEST: Final = "--plugin-manifest"
_FOR_PROGRAMS: Final = frozenset({_MANIFEST, "__complete", "__completeNoDesc"})


class RootGroup(LazyGroup):
    """The command itself. Its help is printed in the user's spelling."""

    def get_help(self, ctx: click.Context) -> str:
        return spelled(super().get_help(ctx))


root: Final = RootGroup("compute", COMMANDS, help=_HELP)
click.version_option(package_name="datum-compute", message="%(version)s")(root)


def run(arguments: Sequence[str]) -> int:
    """Run one command. An error is a sentence and a next command on stderr, and an exit code."""
    streams.prepare()
    forget_flags()
    if arguments[:1] and arguments[0] in _FOR_PROGRAMS:
        return _answer(*arguments)
    try:
        text, code = _run(arguments)
        sys.stdout.flush()  # keeps the order of output and error in a log
    except BrokenPipeError:
        streams.discard_output()
        return Exit.OK
    except OSError as error:
        streams.discard_output()
        text, code = f"Error: the output cannot be written: {error.strerror}", Exit.ERROR
    except Exception as error:
        if os.environ.get("COMPUTE_DEBUG"):
            raise
        fault = f"a bug of compute: {type(error).__name__}: {error}; COMPUTE_DEBUG=1 shows where"
        text, code = _reported(Failure(fault), arguments)
    if text:
        print(text, file=sys.stderr)
    return code


def _answer(request: str, *words: str) -> int:
    """Answer another program. It reads stdout only, so nothing is said about a failure."""
    from compute.cli.completion import protocol  # noqa: PLC0415 -- rarely needed

    if request == _MANIFEST:
        from compute.cli.plugin_manifest import manifest  # noqa: PLC0415 -- rarely needed

        streams.show(manifest())
    else:
        described = request == protocol.REQUEST
        streams.show(protocol.answer(root, words, described=described))
    return Exit.OK


def _run(arguments: Sequence[str]) -> tuple[str, int]:
    try:
        code = root.main(list(arguments), prog_name=program(), standalone_mode=False)
    except Quit as end:
        return "", end.code
    except click.exceptions.NoArgsIsHelpError as error:
        return spelled(error.format_message()), Exit.USAGE
    except (Failure, click.ClickException, UnicodeEncodeError) as error:
        return _reported(_failure(error), arguments)
    except (click.Abort, KeyboardInterrupt):
        return "Interrupted.", Exit.INTERRUPTED
    return "", code if isinstance(code, int) else Exit.OK


def _failure(error: Failure | click.ClickException | UnicodeEncodeError) -> Failure:
    match error:
        case Failure():
            return error
        case UnicodeEncodeError(reason="surrogates not allowed"):  # bytes that are no text
            cause = "an argument is not text in UTF-8, which no server takes"
            return Failure(cause, Exit.USAGE, next_step="compute --help")
        case UnicodeEncodeError():
            raise error
        case click.UsageError():
            sentence = plain(error.format_message()).rstrip(".")
            return Failure(sentence, Exit.USAGE, next_step=help_step(error.ctx))
        case _:  # an error of a command that uses click
            return Failure(error.format_message())


def _reported(failure: Failure, arguments: Sequence[str]) -> tuple[str, Exit]:
    from compute.cli.shell.errors import json_of, text_of  # noqa: PLC0415 -- only for an error

    text = json_of(failure) if wants_json(arguments) else text_of(failure)
    return text, failure.code

"""How the user spells this command: ``compute``, ``kubectl compute`` or ``datumctl compute``.

One executable serves all three. Next steps are written as ``compute ...`` in the code, and shown in
the spelling of the user: with the words by which the user calls it, and with the flags that chose the
project, which the next command needs as well. The name of the executable alone does not decide: datumctl
resolves symbolic links first, so its own variable comes before.
"""

import os
import re
import shlex
import sys
from collections.abc import Mapping
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import click

NAME: Final = "compute"
PLUGIN_VERSION: Final = "DATUM_PLUGIN_API_VERSION"
_KUBECTL: Final = "kubectl-compute"
_DATUMCTL: Final = "datumctl-compute"
# A command inside backticks, or one that fills a line of its own.
_COMMAND: Final = re.compile(r"(?m)(?<=`)compute(?= |`)|^(\s*)compute(?= )")
_TYPED: Final = re.compile(r"`compute ([a-z][a-z-]*)([^`]*)`")
# Commands without a project; they name the folder of a world themselves where that is needed.
_WITHOUT_TARGET: Final = frozenset({"plan", "up", "down", "reset", "cell", "plane", "completion"})
_repeated: dict[str, str] = {}  # the flags of the command that this process runs


def program(argv0: str = "", variables: Mapping[str, str] = os.environ) -> str:
    """The words by which the user calls this command."""
    called = PurePath(argv0 or sys.argv[0]).name
    if variables.get(PLUGIN_VERSION) or called == _DATUMCTL:
        return f"datumctl {NAME}"
    if called == _KUBECTL:
        return f"kubectl {NAME}"
    return NAME


def is_kubectl_plugin() -> bool:
    return program() == f"kubectl {NAME}"


def repeat_flag(flag: str, value: str) -> None:
    """Repeat this flag of the user's command in every next command."""
    _repeated[flag] = value


def forget_flags() -> None:
    """Start a new command."""
    _repeated.clear()


def spelled(text: str) -> str:
    """The text with its commands in the user's spelling."""
    called = program()
    if _repeated:
        text = _TYPED.sub(_with_flags, text)
    if called == NAME:
        return text
    return _COMMAND.sub(lambda match: f"{match[1] or ''}{called}", text)


def typed(command: str) -> str:
    """A command, written as ``compute ...``, in the user's spelling."""
    return spelled(f"`{command}`").strip("`")


def help_step(context: "click.Context | None") -> str:
    """The help of a command as a next command."""
    called = context.command_path if context else program()
    return f"{NAME}{called.removeprefix(program())} --help"


def _with_flags(match: re.Match[str]) -> str:
    name, rest = match[1], match[2]
    if name in _WITHOUT_TARGET or rest.endswith(" --help"):
        return match[0]
    flags = (f" {f} {shlex.quote(v)}" for f, v in _repeated.items() if f not in rest.split())
    return f"`compute {name}{rest}{''.join(flags)}`"

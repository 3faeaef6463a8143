"""How the user spells this command: ``compute``, ``kubectl compute`` or ``datumctl compute``.

One executable serves all three. Next steps are written as ``compute ...`` in the code, and shown in
the spelling of the user. The name of the executable alone does not decide: datumctl resolves symbolic
links first, so its own variable comes before.
"""

import os
import re
import sys
from collections.abc import Mapping
from pathlib import PurePath
from typing import Final

NAME: Final = "compute"
PLUGIN_VERSION: Final = "DATUM_PLUGIN_API_VERSION"
_KUBECTL: Final = "kubectl-compute"
_DATUMCTL: Final = "datumctl-compute"
# A command inside backticks, or one that fills a line of its own.
_COMMAND: Final = re.compile(r"(?m)(?<=`)compute(?= |`)|^(\s*)compute(?= )")


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


def spelled(text: str) -> str:
    """The text with its commands in the user's spelling."""
    called = program()
    if called == NAME:
        return text
    return _COMMAND.sub(lambda match: f"{match[1] or ''}{called}", text)


def typed(command: str) -> str:
    """A command, written as ``compute ...``, in the user's spelling."""
    return spelled(f"`{command}`").strip("`")

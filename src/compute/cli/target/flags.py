"""The flags of the target that a command was called with."""

from typing import Final

import click

from compute.cli.invocation import repeat_flag

TARGET: Final = "target"
"""The key of the flags in the context's ``meta``."""
_SECRET: Final = frozenset({"token"})


def keep_flag(context: click.Context, parameter: click.Parameter, value: str | None) -> None:
    """The callback of each flag: keep its value for all that resolves the target."""
    if value is not None:
        context.meta.setdefault(TARGET, {})[parameter.name] = value
        if parameter.name not in _SECRET:
            repeat_flag(parameter.opts[0], value)


def target_flags(of: click.Context | None = None) -> dict[str, str]:
    """The flags of a call, by name; those of the command that runs now if none is given."""
    context = of or click.get_current_context(silent=True)
    flags: dict[str, str] = context.meta.get(TARGET, {}) if context else {}
    return flags

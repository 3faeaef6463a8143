"""The flags of the target that a command was called with."""

from typing import Final

import click

TARGET: Final = "target"
"""The key of the flags in the context's ``meta``."""


def keep_flag(context: click.Context, parameter: click.Parameter, value: str | None) -> None:
    """The callback of each flag: keep its value for all that resolves the target."""
    if value is not None:
        context.meta.setdefault(TARGET, {})[parameter.name] = value


def target_flags(of: click.Context | None = None) -> dict[str, str]:
    """The flags of a call, by name; those of the command that runs now if none is given."""
    context = of or click.get_current_context(silent=True)
    flags: dict[str, str] = context.meta.get(TARGET, {}) if context else {}
    return flags

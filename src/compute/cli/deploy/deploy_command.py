"""The commands `deploy` and `diff` as they are parsed: options whose value may be left out.

`--dry-run`, `--save` and `--build` may stand alone. The next word is then an argument of its own, as with
the original; click alone would take it as the value. What follows ``--`` are arguments of the container.
"""

from collections.abc import Iterator, Sequence
from typing import Final

import click

from compute.cli.shell.commands import ComputeCommand

BARE: Final = {"--dry-run": "server", "--save": "", "--build": "."}
"""What an option means that stands alone."""
TAIL: Final = "compute.cli.deploy.tail"
"""The key of the container's arguments in the context's ``meta``."""


class DeployCommand(ComputeCommand):
    """A command with options whose value may be left out."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if "--" in args:
            position = args.index("--")
            args, ctx.meta[TAIL] = args[:position], tuple(args[position + 1 :])
        return super().parse_args(ctx, list(self._completed(args)))

    def _completed(self, args: Sequence[str]) -> Iterator[str]:
        """The arguments with a value for each of these options that stands alone."""
        valued = self._options_with_value()
        is_value = False
        for argument in args:
            known = BARE.get(argument) if not is_value else None
            yield argument if known is None else f"{argument}={known}"
            is_value = not is_value and argument in valued

    def _options_with_value(self) -> set[str]:
        options = (p for p in self.params if isinstance(p, click.Option) and not p.is_flag)
        return {flag for option in options for flag in option.opts} - BARE.keys()

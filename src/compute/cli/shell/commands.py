"""A command with examples, exit codes, and the options that choose the server and the project.

    @command(examples=("compute status web",), exits=(Exit.NOT_FOUND,), target=True)
    def command(...): ...

The help of a command shows its examples and its exit codes; `tools/generate.py` writes the pages of
docs/cli from the same attributes, and a test runs the parser on every example.
"""

from collections.abc import Callable, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Final

import click

from compute.cli.completion import values
from compute.cli.exits import Exit, Failure
from compute.cli.invocation import help_step, spelled
from compute.cli.shell.help_text import HelpContext
from compute.cli.target.flags import keep_flag, target_flags

__all__ = ["ComputeCommand", "command", "current_help", "takes_value", "target_flags"]

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

HELP_OPTIONS: Final = {"help_option_names": ["-h", "--help"]}

_ALWAYS: Final = (Exit.OK, Exit.ERROR, Exit.USAGE)
_OF_A_SERVER: Final = (Exit.UNKNOWN, Exit.NOT_FOUND)  # such as that of a project

# The options that choose the target: flag, short flag, placeholder, and help.
TARGET_OPTIONS: Final = (
    ("--project", "", "NAME", "The project."),
    ("--namespace", "-n", "NAME", "The namespace in the project."),
    ("--context", "", "NAME", "A context of the kubeconfig."),
    ("--kubeconfig", "", "FILE", "The kubeconfig."),
    ("--server", "", "URL", "The address of the API server."),
    ("--token", "", "TOKEN", "The bearer token for --server."),
    ("--certificate-authority", "", "FILE", "The CA of --server."),
    ("--org", "", "NAME", "The organization."),
    ("--data", "", "DIR", "The folder of a world that `compute up` runs on this machine."),
)
_TARGET_NAMES: Final = frozenset(names[0].strip("-").replace("-", "_") for names in TARGET_OPTIONS)
_COMPLETED_BY: Final = {"--project": values.projects, "--context": values.contexts}
_WITH_VALUE: Final = frozenset(
    {"-o", "--output", *(flag for names in TARGET_OPTIONS for flag in names[:2] if flag)}
)


def takes_value(option: str) -> bool:
    """Whether an option that may come before a command has its value in the next argument."""
    return option in _WITH_VALUE


class _Explained(click.Command):
    """A command whose help has examples and exit codes."""

    context_class = HelpContext

    def __init__(
        self,
        *args: Any,
        examples: Sequence[str] = (),
        exits: Sequence[Exit] = (),
        target: bool = False,
        **settings: Any,
    ) -> None:
        settings.setdefault("context_settings", dict(HELP_OPTIONS))
        super().__init__(*args, **settings)
        self.examples = tuple(examples)
        self.exits = tuple(sorted({*_ALWAYS, *exits, *(_OF_A_SERVER if target else ())}))
        self.has_target = target
        if target:
            self.params = [*self.params, *_target_options(self.params)]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            # Without the dashes, which would make any two short flags alike.
            flags = [flag.strip("-") for flag in _flags(self)]
            near = get_close_matches(error.option_name.strip("-"), flags, 1, 0.6)
            hint = f"; did you mean --{near[0]}?" if near else ""
            raise click.UsageError(f"no such option: {error.option_name}{hint}", ctx) from error
        except click.UsageError as error:
            error.ctx = error.ctx or ctx  # the parser does not name the command
            raise

    def invoke(self, ctx: click.Context) -> Any:
        """Run it. After a wrong call without a next command, the help is the next command."""
        try:
            return super().invoke(ctx)
        except Failure as failure:
            if failure.code is Exit.USAGE and not failure.next_step:
                failure.next_step = help_step(ctx)
            raise

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem]":
        """Complete a flag. Those of the target are offered once a letter of theirs is typed."""
        from click.shell_completion import CompletionItem  # noqa: PLC0415 -- only for completion

        shown = super().shell_complete(ctx, incomplete or "-")
        hidden = [
            CompletionItem(flag, help=parameter.help)
            for parameter in self.params
            if parameter.name in _TARGET_NAMES and len(incomplete) > len("--")
            for flag in parameter.opts
            if flag.startswith(incomplete)
        ]
        return shown + hidden

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_options(ctx, formatter)
        if self.has_target:
            with formatter.section("Target options"):
                formatter.write_text(
                    f"{' '.join(map(_flags_of_target, TARGET_OPTIONS))}; "
                    + spelled("`compute config view` shows which one is in effect.")
                )

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if self.examples:
            with formatter.section("Examples"):
                for example in self.examples:
                    formatter.write(f"  {spelled(example)}\n")
        with formatter.section("Exit codes"):
            formatter.write_dl([(str(int(code)), code.meaning) for code in self.exits])
        super().format_epilog(ctx, formatter)


class ComputeCommand(_Explained):
    """A command."""


class ComputeGroup(_Explained, click.Group):
    """A command that has commands of its own, and may do something without one of them."""

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem]":
        return click.Group.shell_complete(self, ctx, incomplete)


def command(
    *args: Any,
    examples: Sequence[str] = (),
    exits: Sequence[Exit] = (),
    target: bool = False,
    **settings: Any,
) -> Callable[[Callable[..., Any]], ComputeCommand]:
    """The decorator of a command's function."""
    return click.command(
        *args, cls=ComputeCommand, examples=examples, exits=exits, target=target, **settings
    )


def current_help() -> str:
    """The help of the command that runs, as a next command."""
    return help_step(click.get_current_context(silent=True))


def _target_options(own: Sequence[click.Parameter]) -> list[click.Option]:
    """The options of the target that the command does not define itself. Help lists them shortly."""
    taken = {flag for parameter in own for flag in parameter.opts}
    return [
        click.Option(
            [flag for flag in names if flag and flag not in taken], metavar=metavar, help=text,
            expose_value=False, hidden=True, callback=keep_flag,
            shell_complete=_COMPLETED_BY.get(names[0]),
        )
        for *names, metavar, text in TARGET_OPTIONS if names[0] not in taken
    ]  # fmt: skip


def _flags_of_target(option: tuple[str, str, str, str]) -> str:
    flag, short, *_ = option
    return f"{short}/{flag}" if short else flag


def _flags(of: click.Command) -> list[str]:
    return [flag for parameter in of.params for flag in parameter.opts if flag.startswith("--")]

"""`compute config use-project`, `use-context`, `set` and `unset`: the user's own choice of a target."""

from typing import TYPE_CHECKING, Final

import click

from compute.cli.completion import values
from compute.cli.exits import Exit
from compute.cli.shell.commands import command as command_of

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


KEYS: Final = ("context", "project", "namespace")  # of `compute.cli.target.settings`


@command_of(
    name="use-project",
    examples=("compute config use-project demo", "compute config use-project shop"),
)
@click.argument("name", metavar="NAME", shell_complete=values.projects)
def use_project(name: str) -> int:
    """Choose the project of all commands. --project and COMPUTE_PROJECT go before it."""
    _choose(project=name)
    return 0


@command_of(
    name="use-context",
    examples=("compute config use-context local", "compute config use-context staging"),
    exits=(Exit.NOT_FOUND,),
)
@click.argument("name", metavar="NAME|local", shell_complete=values.contexts)
def use_context(name: str) -> int:
    """Choose a context of the kubeconfig for all commands, or `local`: the platform on this machine.

    The current context of kubectl does not change. A project that was chosen is forgotten, because it
    belongs to another context.
    """
    _choose(context=name)
    return 0


def _key(ctx: click.Context, param: click.Parameter, incomplete: str) -> "list[CompletionItem]":
    key = ctx.params.get("key")
    complete = {"context": values.contexts, "project": values.projects}.get(str(key))
    return complete(ctx, param, incomplete) if complete else []


@command_of(
    name="set",
    examples=("compute config set namespace default", "compute config set project demo"),
    exits=(Exit.NOT_FOUND,),
)
@click.argument("key", type=click.Choice(KEYS))
@click.argument("value", shell_complete=_key)
def set_value(key: str, value: str) -> int:
    """Set one value. Flags and COMPUTE_* variables go before it."""
    _choose(**{key: value})
    return 0


@command_of(name="unset", examples=("compute config unset project", "compute config unset context"))
@click.argument("key", type=click.Choice(KEYS))
def unset_value(key: str) -> int:
    """Forget one value."""
    _choose(**{key: ""})
    return 0


def _choose(**changes: str) -> None:
    from compute.cli.operate.target_choice import choose  # noqa: PLC0415 -- help needs none of it

    choose(**changes)

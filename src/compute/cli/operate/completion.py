"""`compute completion`: the completion scripts of shells."""

from importlib.resources import files
from typing import Final

import click

from compute.cli.shell.commands import command as command_of
from compute.cli.streams import show

SHELLS: Final = ("bash", "zsh", "fish")


@command_of(
    examples=(
        "source <(compute completion bash)",
        "source <(compute completion zsh)",
        "compute completion fish > ~/.config/fish/completions/compute.fish",
    ),
)
@click.argument("shell", type=click.Choice(SHELLS))
def command(shell: str) -> int:
    """Print the script that completes commands, flags and names in a shell.

    Names of workloads, instances and cities come from the server of the target, if it answers within
    0.3 seconds. As a plugin of kubectl or datumctl, compute is completed by their own scripts.
    """
    script = files("compute.cli.completion") / "scripts" / f"compute.{shell}"
    show(script.read_text(encoding="utf-8").rstrip("\n"))
    return 0

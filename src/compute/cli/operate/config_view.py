"""`compute config view`: the target, and what each rule would give."""

from compute.cli.output.formats import output_option
from compute.cli.shell.commands import command as command_of


@command_of(
    examples=(
        "compute config view",
        "compute config view --project shop",
        "compute config view -o json",
    ),
    target=True,
)
@output_option("table", "json", "yaml")
def command(output: str) -> int:
    """Show which server and project commands use, and why.

    The first rule that applies decides. The project and the namespace on that server come from flags,
    variables, settings or the context, in this order. Nothing is contacted.
    """
    from compute.cli.operate.target_screen import show_target  # noqa: PLC0415 -- not for help

    show_target(output)
    return 0

"""`compute workloads edit`: edits a workload as YAML in the user's editor.

What others change meanwhile stays: only the differences that the user made are written, to the newest
version. Where both changed the same field, nothing is written.
"""

from compute.cli.exits import Exit
from compute.cli.shell.commands import command as compute_command
from compute.cli.shell.parameters import workload_argument


@compute_command(
    examples=("compute workloads edit web", "compute workloads edit web --project shop"),
    exits=(Exit.UNKNOWN, Exit.NOT_FOUND, Exit.CONFLICT),
    target=True,
)
@workload_argument
def command(name: str) -> int:
    """Edit a workload as YAML in your editor: VISUAL, else EDITOR.

    A text that is not valid is opened again with the reasons. Changes that others make meanwhile stay;
    if both change the same field, nothing is written. A text that cannot be saved is kept in a file.
    """
    from compute.cli.look.workload.workload_edit_run import run  # noqa: PLC0415 -- not for help

    return run(name)

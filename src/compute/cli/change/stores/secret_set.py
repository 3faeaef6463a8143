"""`compute secrets set`: values of a Secret, byte for byte."""

from collections.abc import Sequence

from compute.cli.change.stores.assignment_options import assignment_options
from compute.cli.exits import Exit
from compute.cli.output.formats import output_option
from compute.cli.shell.commands import command as compute_command


@compute_command(
    examples=(
        "compute secrets set database PASSWORD=- < password.txt",
        "compute secrets set database HOST=db.internal OLD_PASSWORD-",
        "compute secrets set certificate --from-file tls.crt --from-file tls.key=private.pem",
        "compute secrets set database --from-env-file .env",
    ),
    exits=(Exit.UNKNOWN, Exit.NOT_FOUND, Exit.CONFLICT),
    target=True,
)
@assignment_options
@output_option("table", "json", "yaml", "name")
def command(
    name: str,
    assignments: Sequence[str],
    files: Sequence[str],
    env_files: Sequence[str],
    output: str,
) -> int:
    """Set values of a Secret, and create it if there is none.

    KEY=VALUE sets a value, KEY=- reads it from stdin, and KEY- removes the key. Other keys stay as they
    are. Values are kept byte for byte, a newline at the end of a file included, and are never printed.
    What other users of this machine must not see belongs in a file or on stdin.
    """
    from compute.cli.change.stores.secret_set_run import run  # noqa: PLC0415 -- not for help

    return run(name, assignments, files, env_files, output)

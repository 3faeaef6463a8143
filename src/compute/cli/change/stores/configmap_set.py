"""`compute configmaps set`: values of a ConfigMap, byte for byte."""

from collections.abc import Sequence

from compute.cli.change.stores.assignment_options import assignment_options
from compute.cli.exits import Exit
from compute.cli.output.formats import output_option
from compute.cli.shell.commands import command as compute_command


@compute_command(
    examples=(
        "compute configmaps set settings LOG_LEVEL=debug OLD_SETTING-",
        "compute configmaps set pages --from-file index.html --from-file logo=logo.png",
        "compute configmaps set settings --from-env-file settings.env",
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
    """Set values of a ConfigMap, and create it if there is none.

    KEY=VALUE sets a value, KEY=- reads it from stdin, and KEY- removes the key. Other keys stay as they
    are. Values are kept byte for byte, a newline at the end of a file included; what is not text goes
    to the binary data. Passwords belong in a Secret: compute secrets set.
    """
    from compute.cli.change.stores.configmap_set_run import run  # noqa: PLC0415 -- not for help

    return run(name, assignments, files, env_files, output)

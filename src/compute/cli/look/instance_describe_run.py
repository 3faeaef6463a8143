"""What `compute instances describe` does."""

from compute.cli.exits import Exit
from compute.cli.look.instance_description import instance_description
from compute.cli.look.instance_evidence import read_evidence
from compute.cli.output.formats import show_data
from compute.cli.shell.session import Session, in_project
from compute.cli.streams import show
from compute.views.details.instance_details import instance_detail


def run(name: str, *, show_values: bool, output: str) -> int:
    """Run it. The arguments are those of the command."""
    in_project(lambda session: _describe(session, name, output, show_values=show_values))
    return Exit.OK


async def _describe(session: Session, name: str, output: str, *, show_values: bool) -> None:
    evidence = await read_evidence(session, name)
    now = session.now()
    detail = instance_detail(evidence, now, show_values=show_values)
    if output == "table":
        where = f"{session.target.where}, namespace {session.namespace}"
        show("\n".join(instance_description(detail, where, now)))
    else:
        show_data(detail, output)

"""`compute workloads get`: a workload as the server has it."""

from compute.api.compute import Workload
from compute.cli.change.workload_change import read_workload
from compute.cli.exits import Exit
from compute.cli.output.formats import output_option, show_data, show_names
from compute.cli.shell.commands import command as compute_command
from compute.cli.shell.parameters import workload_argument
from compute.cli.shell.session import Session, in_project
from kubekit.client.transport import Document, ResourceLocation


@compute_command(
    examples=("compute workloads get web", "compute workloads get web -o json"),
    exits=(Exit.UNKNOWN, Exit.NOT_FOUND),
    target=True,
)
@workload_argument
@output_option("yaml", "json", "name", default="yaml")
def command(name: str, output: str) -> int:
    """Print a workload as the server has it, with the values of its environment variables.

    Fields that this version does not know are there, too.
    """
    document = in_project(lambda session: read_document(session, name))
    if output == "name":
        show_names("workload", [name])
    else:
        show_data(document, output)
    return Exit.OK


async def read_document(session: Session, name: str) -> Document:
    """The Workload as a document, without the records of who wrote which field."""
    await read_workload(session, name)
    location = ResourceLocation(Workload.RESOURCE, session.namespace, name)
    document = await session.client.raw.get(location)
    document["metadata"].pop("managedFields", None)
    return document

"""What `compute workloads get` does."""

from compute.api.compute import Workload
from compute.cli.change.existing_workload import read_workload
from compute.cli.exits import Exit
from compute.cli.output.formats import show_data, show_names
from compute.cli.shell.session import Session, in_project
from kubekit.client.transport import Document, ResourceLocation


def run(name: str, output: str) -> int:
    """Run it. The arguments are those of the command."""
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

"""Sessions of commands without a server, for the clients of planes."""

from compute.cli.shell.session import Session
from compute.cli.target.chosen import Target, TargetRule
from kubekit.client.client import Client
from kubekit.client.connection import Anonymous, Connection, ConnectionOrigin
from kubekit.environment import ExecutionEnvironment


def session(client: Client, environment: ExecutionEnvironment, project: str = "shop") -> Session:
    """The session of a command in the namespace ``default`` of a project."""
    connection = Connection(
        server="https://test", credentials=Anonymous(), origin=ConnectionOrigin("test", "")
    )
    target = Target(
        connection=connection,
        project=project,
        namespace="default",
        rule=TargetRule.FLAGS,
        detail="test",
    )
    return Session(target, client, environment)

"""The target of a command, and the rule that chose it."""

from enum import StrEnum
from pathlib import Path

import msgspec

from kubekit.client.connection import Connection


class TargetRule(StrEnum):
    """The rules, the strongest first. The first that applies decides."""

    FLAGS = "flags"
    PLUGIN = "plugin of datumctl"
    SERVER = "COMPUTE_SERVER"
    DATA = "COMPUTE_DATA"
    SETTINGS = "settings"
    KUBECONFIG = "kubeconfig"
    WORLD = "world on this machine"


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """A server, and a namespace of a project there."""

    connection: Connection
    project: str  # empty where the server itself is the project, as on one cluster
    namespace: str
    rule: TargetRule
    detail: str  # what the rule read: a file, a variable
    project_from: str = ""  # what named the project: a flag, a variable, the settings, the server
    namespace_from: str = ""
    context: str = ""
    kubeconfig: Path | None = None
    world: Path | None = None  # the folder of the world, where it is one of this machine

    @property
    def server(self) -> str:
        return self.connection.server

    @property
    def credentials_from(self) -> str:
        """What provides the credentials, as a phrase in sentences."""
        if self.kubeconfig is not None:
            return f"context {self.context} in {self.kubeconfig}"
        own = {TargetRule.PLUGIN: "datumctl", TargetRule.SERVER: "COMPUTE_TOKEN"}
        return own.get(self.rule, "--token")

    @property
    def where(self) -> str:
        """The project as a phrase in sentences; the server where there is no project."""
        return f"project {self.project}" if self.project else f"server {self.server}"

    @property
    def inside(self) -> str:
        """The same with its preposition."""
        return f"{'in' if self.project else 'on'} {self.where}"

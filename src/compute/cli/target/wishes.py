"""What a call asks for: its flags, variables and settings, before a rule makes a target of them."""

from collections.abc import Mapping
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from compute.cli.invocation import PLUGIN_VERSION
from compute.cli.target.settings import UserSettings
from kubekit.environment import ExecutionEnvironment


class Wish(NamedTuple):
    """A value, and what named it."""

    value: str = ""
    source: str = ""


class Wishes(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that the target depends on, except for files."""

    flags: Mapping[str, str]
    variables: Mapping[str, str]
    settings: UserSettings
    environment: ExecutionEnvironment
    kubectl: bool = False  # called as a plugin of kubectl, so with kubectl's own context in mind

    def flag(self, name: str) -> str:
        return self.flags.get(name, "")

    def variable(self, name: str) -> str:
        return self.variables.get(name, "")

    def without_context(self) -> "Wishes":
        """The same where the context is chosen already; a project may still be asked for."""
        return replace(self, flags={k: v for k, v in self.flags.items() if k != "context"})

    @property
    def project(self) -> Wish:
        """The project that is asked for. A context of a flag names its own, which a flag may replace."""
        if self.flag("context"):
            return _first(("--project", self.flag("project")))
        return _first(
            ("--project", self.flag("project")),
            ("DATUM_PROJECT", self.variable("DATUM_PROJECT") if self.is_plugin else ""),
            ("COMPUTE_PROJECT", self.variable("COMPUTE_PROJECT")),
            ("settings", "" if self.is_plugin else self.settings.project),
        )

    @property
    def namespace(self) -> Wish:
        return _first(
            ("--namespace", self.flag("namespace")),
            ("COMPUTE_NAMESPACE", self.variable("COMPUTE_NAMESPACE")),
            ("settings", self.settings.namespace),
        )

    @property
    def is_plugin(self) -> bool:
        """Whether datumctl runs this command."""
        return bool(self.variable(PLUGIN_VERSION))


def _first(*wishes: tuple[str, str]) -> Wish:
    return next((Wish(value, source) for source, value in wishes if value), Wish())

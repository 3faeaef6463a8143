"""The credential plugin of a kubeconfig's user."""

from collections.abc import Callable, Mapping
from typing import Final, get_args

from kubekit.client.connection import Credentials
from kubekit.client.kubeconfig.cluster_info import ClusterInfo
from kubekit.client.kubeconfig.config_files import EntryLocation
from kubekit.client.kubeconfig.entries import ExecEntry
from kubekit.client.kubeconfig.exec_credential import VERSIONS
from kubekit.client.kubeconfig.exec_plugin import ExecSettings, Interaction, shared
from kubekit.environment import ExecutionEnvironment

CredentialSource = Callable[[ExecutionEnvironment, Mapping[str, str]], Credentials]
_INTERACTIONS: Final[tuple[Interaction, ...]] = get_args(Interaction)


def plugin_of(entry: ExecEntry, cluster: ClusterInfo, location: EntryLocation) -> CredentialSource:
    """What makes the credentials of the plugin that the entry describes."""
    settings = _settings(entry, cluster, location)
    return lambda environment, variables: shared(settings, environment, variables)


def _settings(entry: ExecEntry, cluster: ClusterInfo, location: EntryLocation) -> ExecSettings:
    if not entry.command:
        raise location.wrong("exec.command", "missing; name the program to run")
    if entry.api_version not in VERSIONS:
        raise location.wrong("exec.apiVersion", f"not one of {' and '.join(VERSIONS)}")
    if not all(variable.name for variable in entry.env):
        raise location.wrong("exec.env", "a variable has no name")
    return ExecSettings(
        command=str(location.near(entry.command)) if "/" in entry.command else entry.command,
        api_version=entry.api_version,
        arguments=entry.args,
        variables=tuple((variable.name, variable.value) for variable in entry.env),
        interaction=_interaction(entry, location),
        cluster=cluster if entry.provide_cluster_info else None,
        install_hint=entry.install_hint,
        named_by=f"{location.file}: {location.path}.exec",
    )


def _interaction(entry: ExecEntry, location: EntryLocation) -> Interaction:
    mode = entry.interactive_mode
    if not mode and entry.api_version != VERSIONS[0]:
        return "IfAvailable"
    for known in _INTERACTIONS:
        if mode == known:
            return known
    raise location.wrong("exec.interactiveMode", f"not one of {', '.join(_INTERACTIONS)}")

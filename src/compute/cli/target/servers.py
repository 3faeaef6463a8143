"""A server that is given by its address, or by datumctl, as a target."""

from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from compute.cli.exits import Exit, Failure
from compute.cli.target.chosen import Target, TargetRule
from compute.cli.target.kubeconfigs import DEFAULT_NAMESPACE
from compute.cli.target.project_paths import project_of, with_project
from compute.cli.target.wishes import Wishes
from kubekit.client.connection import (
    Anonymous,
    Connection,
    ConnectionOrigin,
    Credentials,
    Misconfigured,
    authority_problem,
)
from kubekit.client.credentials import BearerToken
from kubekit.client.proxies import proxy_for

_HOST: Final = "DATUM_API_HOST"


def target_at(url: str, wishes: Wishes, rule: TargetRule, detail: str) -> Target:
    """The target at an address that is given as it is."""
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.netloc:
        raise Failure(f"{detail}: {url!r} is no address: write it as https://HOST:PORT", Exit.USAGE)
    server, project = url.rstrip("/"), wishes.project.value
    if project and project_of(server) != project:
        server = with_project(server, project)
    token, authority = wishes.flag("token"), wishes.flag("certificate_authority")
    if rule is TargetRule.SERVER:
        token = token or wishes.variable("COMPUTE_TOKEN")
        authority = authority or wishes.variable("COMPUTE_CA")
    connection = Connection(
        server=server,
        authority=_authority(authority),
        proxy=_proxy(server, wishes),
        credentials=BearerToken(token) if token else Anonymous(),
        origin=ConnectionOrigin(detail, ""),
    )
    return _on(connection, wishes, rule, detail)


def plugin_target(wishes: Wishes) -> Target:
    """The target of a plugin of datumctl, which names the host and provides the token."""
    host, project = wishes.variable(_HOST), wishes.project.value
    if not host:
        raise Failure(f"{_HOST} is not set: call this command as `datumctl compute`")
    if not project:
        raise Failure(
            "no project is chosen: give --project NAME, or choose one for datumctl",
            next_step="compute status --project NAME",
        )
    server = with_project(f"https://{host}", project)
    connection = Connection(
        server=server,
        proxy=_proxy(server, wishes),
        credentials=_plugin_credentials(wishes),
        origin=ConnectionOrigin(_HOST, ""),
    )
    return _on(connection, wishes, TargetRule.PLUGIN, _HOST)


def _plugin_credentials(wishes: Wishes) -> Credentials:
    if token := wishes.flag("token"):
        return BearerToken(token)
    if helper := wishes.variable("DATUM_CREDENTIALS_HELPER"):
        from compute.cli.target.datumctl import CredentialsHelper  # noqa: PLC0415 -- rarely needed

        return CredentialsHelper(helper, wishes.variable("DATUM_SESSION"))
    return Anonymous()


def _on(connection: Connection, wishes: Wishes, rule: TargetRule, detail: str) -> Target:
    project = project_of(connection.server)
    namespace = wishes.namespace if wishes.namespace.value else DEFAULT_NAMESPACE
    return Target(
        connection=connection,
        project=project,
        project_from=(wishes.project.source or detail) if project else "",
        namespace=namespace.value,
        namespace_from=namespace.source,
        rule=rule,
        detail=detail,
    )


def _proxy(server: str, wishes: Wishes) -> str:
    try:
        return proxy_for(server, wishes.variables)
    except Misconfigured as error:
        raise Failure(str(error), next_step="compute config view") from error


def _authority(path: str) -> bytes | None:
    if not path:
        return None
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise Failure(f"{path}: cannot be read: {error.strerror}") from error
    if problem := authority_problem(content):
        raise Failure(f"{path}: {problem}")
    return content

"""The caller that a kubeconfig's user describes, with kubectl's rules for those who say too much.

A token file is heard before a token. A plugin is not run for a user who has a token, a password or
a certificate. Nothing is sent to a server without TLS, where everybody on the way could read it.
"""

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Final, get_args

from kubekit.client.connection import Anonymous, Credentials, Impersonation, NoCredentials
from kubekit.client.credentials import (
    Basic,
    BearerToken,
    Both,
    KeyPair,
    TokenFile,
    sendable,
    token_in,
)
from kubekit.client.kubeconfig.config_files import EntryLocation, LocatedEntry
from kubekit.client.kubeconfig.entries import ExecEntry, UserEntry
from kubekit.client.kubeconfig.exec_credential import VERSIONS
from kubekit.client.kubeconfig.exec_plugin import ExecSettings, Interaction, shared
from kubekit.client.kubeconfig.servers import ClusterEndpoint, decoded
from kubekit.environment import ExecutionEnvironment

_INTERACTIONS: Final[tuple[Interaction, ...]] = get_args(Interaction)
_log: Final = logging.getLogger(__name__)


def impersonation_of(found: LocatedEntry[UserEntry]) -> Impersonation:
    """Whom the user acts for."""
    user, place = found.value, found.place
    acting = Impersonation(
        user=user.as_,
        uid=user.as_uid,
        groups=user.as_groups,
        extra=tuple(sorted(user.as_user_extra.items())),
    )
    if acting.headers() and not acting.user:
        raise place.wrong("as", "missing beside as-uid, as-groups or as-user-extra; name the user")
    if not all(sendable(value) for _, value in acting.headers()):
        raise place.wrong("as", "one of the names holds characters that no header can carry")
    return acting


def credentials_of(
    found: LocatedEntry[UserEntry],
    server: ClusterEndpoint,
    environment: ExecutionEnvironment,
    variables: Mapping[str, str],
) -> Credentials:
    """How the user is let in, as far as he says it to this server."""
    user, place = found.value, found.place
    _check(user, place)
    plugin = user.exec and _plugin(user.exec, server, place)
    header: Credentials | None = server.login
    pair: Credentials | None = None
    if server.secure:
        header = header or _header(user, place)
        pair = _key_pair(user, place)
        if plugin and not (header or pair):
            return shared(plugin, environment, variables)
    elif plugin or _has_secret(user):
        _warn("credentials are not sent to a server without TLS", place)
    if header and pair:
        return Both(header, pair)
    return header or pair or Anonymous()


def _check(user: UserEntry, place: EntryLocation) -> None:
    """Refuse what contradicts itself or cannot be done."""
    if user.auth_provider is not None:
        raise place.wrong("auth-provider", "not supported any more; use an exec plugin")
    token = "token" if user.token else "tokenFile" if user.token_file else ""
    if token and (user.username or user.password):
        raise place.wrong(token, "cannot stand beside a user name and password; remove one")
    if user.password and not user.username:
        raise place.wrong("username", "missing beside the password")
    if not sendable(user.token):
        raise place.wrong("token", "holds a line break or another control character; remove it")


def _has_secret(user: UserEntry) -> bool:
    certificate = user.client_certificate or user.client_certificate_data
    return bool(user.token or user.token_file or user.username or certificate)


def _header(user: UserEntry, place: EntryLocation) -> Credentials | None:
    if user.username:
        return Basic(user.username, user.password)
    if not user.token_file:
        return BearerToken(user.token) if user.token else None
    path = place.near(user.token_file)
    if not user.token:
        try:
            token_in(path)
        except NoCredentials as error:
            raise place.wrong("tokenFile", f"{error}; correct the path or the file") from error
    return TokenFile(path, otherwise=user.token)


def _key_pair(user: UserEntry, place: EntryLocation) -> Credentials | None:
    certificate = _source(user.client_certificate_data, user.client_certificate, place)
    key = _source(user.client_key_data, user.client_key, place, "client-key-data")
    if certificate is None:
        if key is not None:
            _warn("a client key without a certificate is not used", place)
        return None
    if key is None:
        raise place.wrong("client-key-data", "missing beside the client certificate")
    pair = KeyPair(certificate, key)
    try:
        pair.certificate()
    except NoCredentials as error:
        field = "client-certificate-data" if user.client_certificate_data else "client-certificate"
        raise place.wrong(field, f"{error}; give the certificate and its key in PEM") from error
    return pair


def _source(
    data: str, file: str, place: EntryLocation, field: str = "client-certificate-data"
) -> Path | bytes | None:
    if data:
        return decoded(data, field, place)
    return place.near(file) if file else None


def _plugin(said: ExecEntry, server: ClusterEndpoint, place: EntryLocation) -> ExecSettings:
    if not said.command:
        raise place.wrong("exec.command", "missing; name the program to run")
    if said.api_version not in VERSIONS:
        raise place.wrong("exec.apiVersion", f"not one of {' and '.join(VERSIONS)}")
    if not all(variable.name for variable in said.env):
        raise place.wrong("exec.env", "a variable has no name")
    return ExecSettings(
        command=str(place.near(said.command)) if "/" in said.command else said.command,
        api_version=said.api_version,
        arguments=said.args,
        variables=tuple((variable.name, variable.value) for variable in said.env),
        interaction=_interaction(said, place),
        cluster=server.info if said.provide_cluster_info else None,
        install_hint=said.install_hint,
        named_by=f"{place.file}: {place.path}.exec",
    )


def _interaction(said: ExecEntry, place: EntryLocation) -> Interaction:
    mode = said.interactive_mode
    if not mode and said.api_version != VERSIONS[0]:
        return "IfAvailable"
    for known in _INTERACTIONS:
        if mode == known:
            return known
    raise place.wrong("exec.interactiveMode", f"not one of {', '.join(_INTERACTIONS)}")


def _warn(problem: str, place: EntryLocation) -> None:
    _log.warning(problem, extra={"file": str(place.file), "field": place.path})

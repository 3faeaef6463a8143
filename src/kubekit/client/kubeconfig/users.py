"""The credentials of a kubeconfig's user, with kubectl's rules for users with several of them.

A token file takes precedence over a token. A plugin is not run for a user with a token, a password or
a certificate. No credentials are sent to a server without TLS, because the network could read them.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from kubekit.client.connection import Anonymous, Credentials, Impersonation, NoCredentials
from kubekit.client.credentials import (
    Basic,
    BearerToken,
    Both,
    KeyPair,
    sendable,
    token_in,
)
from kubekit.client.kubeconfig.config_files import EntryLocation, LocatedEntry
from kubekit.client.kubeconfig.entries import UserEntry
from kubekit.client.kubeconfig.servers import ClusterEndpoint, decoded
from kubekit.environment import ExecutionEnvironment

if TYPE_CHECKING:
    from kubekit.client.kubeconfig.plugins import CredentialSource


def impersonation_of(entry: LocatedEntry[UserEntry]) -> Impersonation:
    """The user to impersonate."""
    user, location = entry.value, entry.location
    impersonation = Impersonation(
        user=user.as_,
        uid=user.as_uid,
        groups=user.as_groups,
        extra=tuple(sorted(user.as_user_extra.items())),
    )
    if impersonation.headers() and not impersonation.user:
        raise location.wrong(
            "as", "missing beside as-uid, as-groups or as-user-extra; name the user"
        )
    if not all(sendable(value) for _, value in impersonation.headers()):
        raise location.wrong("as", "one of the names holds characters that no header can carry")
    return impersonation


def credentials_of(
    entry: LocatedEntry[UserEntry],
    server: ClusterEndpoint,
    environment: ExecutionEnvironment,
    variables: Mapping[str, str],
) -> Credentials:
    """The credentials of the user for this server."""
    user, location = entry.value, entry.location
    _check(user, location)
    plugin = _plugin(user, server, location)
    header: Credentials | None = server.login
    pair: Credentials | None = None
    if server.secure:
        header = header or _header(user, location)
        pair = _key_pair(user, location)
        if plugin and not (header or pair):
            return plugin(environment, variables)
    elif plugin or _has_secret(user):
        _warn("credentials are not sent to a server without TLS", location)
    if header and pair:
        return Both(header, pair)
    return header or pair or Anonymous()


def _check(user: UserEntry, location: EntryLocation) -> None:
    """Refuse contradictory or unsupported fields."""
    if user.auth_provider is not None:
        raise location.wrong("auth-provider", "not supported any more; use an exec plugin")
    token = "token" if user.token else "tokenFile" if user.token_file else ""
    if token and (user.username or user.password):
        raise location.wrong(token, "cannot stand beside a user name and password; remove one")
    if user.password and not user.username:
        raise location.wrong("username", "missing beside the password")
    if not sendable(user.token):
        raise location.wrong("token", "holds a line break or another control character; remove it")


def _plugin(
    user: UserEntry, server: ClusterEndpoint, location: EntryLocation
) -> "CredentialSource | None":
    """The plugin of the user, which is a valid one; None if there is none."""
    if user.exec is None:
        return None
    from kubekit.client.kubeconfig.plugins import plugin_of  # noqa: PLC0415 -- few users have one

    return plugin_of(user.exec, server.info, location)


def _has_secret(user: UserEntry) -> bool:
    certificate = user.client_certificate or user.client_certificate_data
    return bool(user.token or user.token_file or user.username or certificate)


def _header(user: UserEntry, location: EntryLocation) -> Credentials | None:
    if user.username:
        return Basic(user.username, user.password)
    if not user.token_file:
        return BearerToken(user.token) if user.token else None
    path = location.near(user.token_file)
    if not user.token:
        try:
            token_in(path)
        except NoCredentials as error:
            raise location.wrong("tokenFile", f"{error}; correct the path or the file") from error
    from kubekit.client.token_file import TokenFile  # noqa: PLC0415 -- it needs an event loop

    return TokenFile(path, otherwise=user.token)


def _key_pair(user: UserEntry, location: EntryLocation) -> Credentials | None:
    certificate = _source(user.client_certificate_data, user.client_certificate, location)
    key = _source(user.client_key_data, user.client_key, location, "client-key-data")
    if certificate is None:
        if key is not None:
            _warn("a client key without a certificate is not used", location)
        return None
    if key is None:
        raise location.wrong("client-key-data", "missing beside the client certificate")
    pair = KeyPair(certificate, key)
    try:
        pair.certificate()
    except NoCredentials as error:
        field = "client-certificate-data" if user.client_certificate_data else "client-certificate"
        raise location.wrong(field, f"{error}; give the certificate and its key in PEM") from error
    return pair


def _source(
    data: str, file: str, location: EntryLocation, field: str = "client-certificate-data"
) -> Path | bytes | None:
    if data:
        return decoded(data, field, location)
    return location.near(file) if file else None


def _warn(problem: str, location: EntryLocation) -> None:
    import logging  # noqa: PLC0415 -- completion of words does without it

    log = logging.getLogger(__name__)
    log.warning(problem, extra={"file": str(location.file), "field": location.path})

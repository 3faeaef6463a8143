"""The server of a kubeconfig's cluster: its address and its authority."""

import base64
import binascii
import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import SplitResult, unquote, urlsplit

import msgspec

from kubekit.client.connection import NoCredentials, authority_problem
from kubekit.client.credentials import Basic, read_limited
from kubekit.client.kubeconfig.cluster_info import EXTENSION, ClusterInfo
from kubekit.client.kubeconfig.config_files import EntryLocation, LocatedEntry
from kubekit.client.kubeconfig.entries import ClusterEntry
from kubekit.client.proxies import PROXY_SCHEMES, proxy_for

_NOT_IN_URLS: Final = re.compile(r"[\x00-\x20\x7f\ud800-\udfff]")
_SLASHES: Final = re.compile("/+")
_WHITE: Final = re.compile(r"[\r\n]")


class ClusterEndpoint(msgspec.Struct, frozen=True, kw_only=True):
    """A server as the cluster describes it. ``login`` is the user and password of its URL."""

    url: str
    secure: bool
    login: Basic | None
    authority: bytes | None
    proxy: str
    info: ClusterInfo


def server_of(entry: LocatedEntry[ClusterEntry], variables: Mapping[str, str]) -> ClusterEndpoint:
    """The server of an entry, with the content of the files that it names."""
    cluster, location = entry.value, entry.location
    parts = _url(cluster.server, location)
    url = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{_prefix(parts.path)}"
    authority = _authority(cluster, location, secure=parts.scheme == "https")
    proxy = _proxy(cluster.proxy_url, location)
    return ClusterEndpoint(
        url=url,
        secure=parts.scheme == "https",
        login=_login(parts),
        authority=authority,
        proxy=proxy or proxy_for(url, variables),
        info=_info(cluster, authority, proxy),
    )


def decoded(text: str, field: str, location: EntryLocation) -> bytes:
    """The bytes of a text in base64, on any number of lines."""
    try:
        return base64.b64decode(_WHITE.sub("", text), validate=True)
    except (binascii.Error, ValueError):
        raise location.wrong(field, "not base64; encode the PEM file with base64") from None


def _url(text: str, location: EntryLocation) -> SplitResult:
    if not text:
        raise location.wrong("server", "missing; write https://HOST:PORT")
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise location.wrong("server", "not a URL; write https://HOST:PORT") from None
    if parts.scheme not in {"http", "https"} or "//" not in text:
        raise location.wrong("server", "neither https:// nor http://; write https://HOST:PORT")
    if not parts.hostname or port == 0 or _NOT_IN_URLS.search(text):
        raise location.wrong("server", "not a URL; write https://HOST:PORT")
    return parts


def _prefix(path: str) -> str:
    return _SLASHES.sub("/", path).rstrip("/")


def _login(parts: SplitResult) -> Basic | None:
    if not parts.username and not parts.password:
        return None
    return Basic(unquote(parts.username or ""), unquote(parts.password or ""))


def _authority(cluster: ClusterEntry, location: EntryLocation, *, secure: bool) -> bytes | None:
    """The authority of the server's certificate. Without TLS it is not read."""
    data = decoded(cluster.certificate_authority_data, "certificate-authority-data", location)
    configured = data or cluster.certificate_authority
    if not configured or not secure:
        return None
    if cluster.insecure_skip_tls_verify:
        raise location.wrong(
            "insecure-skip-tls-verify", "cannot be true beside a certificate authority; remove one"
        )
    field = "certificate-authority-data" if data else "certificate-authority"
    try:
        read = data or read_limited(location.near(cluster.certificate_authority))
    except NoCredentials as error:
        raise location.wrong(field, f"{error}; correct the path") from error
    problem = authority_problem(read)
    if problem:
        raise location.wrong(field, f"{problem}; give the certificate in PEM")
    return read


def _proxy(url: str, location: EntryLocation) -> str:
    if not url:
        return ""
    try:
        parts = urlsplit(url)
        usable = parts.scheme in PROXY_SCHEMES and parts.hostname and parts.port != 0
    except ValueError:
        usable = False
    if not usable or _NOT_IN_URLS.search(url):
        raise location.wrong("proxy-url", "not the URL of an HTTP proxy; write http://HOST:PORT")
    return url


def _info(cluster: ClusterEntry, authority: bytes | None, proxy: str) -> ClusterInfo:
    """The information for a plugin: the entry as written, and the content of the authority."""
    extensions = {extension.name: extension.extension for extension in cluster.extensions}
    return ClusterInfo(
        server=cluster.server,
        server_name=cluster.tls_server_name,
        insecure=cluster.insecure_skip_tls_verify,
        authority=authority,
        proxy=proxy,
        compression=not cluster.disable_compression,
        extension=extensions.get(EXTENSION),
    )

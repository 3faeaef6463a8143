"""The connection of a program in a pod: as its service account, to the cluster it runs in.

token      replaced by the kubelet long before it expires
ca.crt     the authority of the server's certificate
namespace  that of the pod
"""

import os
import re
from collections.abc import Mapping
from ipaddress import IPv6Address
from pathlib import Path
from typing import Final

from kubekit.client.connection import (
    Connection,
    ConnectionOrigin,
    Misconfigured,
    NoCredentials,
    authority_problem,
)
from kubekit.client.credentials import read_limited, token_in
from kubekit.client.proxies import proxy_for
from kubekit.client.token_file import TokenFile

SERVICE_ACCOUNT: Final = Path("/var/run/secrets/kubernetes.io/serviceaccount")
_HOST: Final = "KUBERNETES_SERVICE_HOST"
_PORT: Final = "KUBERNETES_SERVICE_PORT"
_HIGHEST_PORT: Final = 65535
_PORT_NUMBER: Final = re.compile("[0-9]{1,5}")
_HOST_NAME: Final = re.compile("[A-Za-z0-9._-]+")


def inside(variables: Mapping[str, str] = os.environ, folder: Path = SERVICE_ACCOUNT) -> bool:
    """Whether this is a pod with a service account."""
    return bool(variables.get(_HOST) and variables.get(_PORT)) and (folder / "token").exists()


def in_cluster(
    variables: Mapping[str, str] = os.environ, folder: Path = SERVICE_ACCOUNT
) -> Connection:
    """The connection. It raises `Misconfigured` outside of a pod with a service account."""
    server = _server(variables)
    try:
        token_in(folder / "token")
        authority = read_limited(folder / "ca.crt")
    except NoCredentials as error:
        raise Misconfigured(
            f"{error}; give the pod a service account, and let it mount the token"
        ) from error
    problem = authority_problem(authority)
    if problem:
        raise Misconfigured(f"{folder / 'ca.crt'}: {problem}")
    return Connection(
        server=server,
        authority=authority,
        proxy=proxy_for(server, variables),
        credentials=TokenFile(folder / "token"),
        namespace=variables.get("POD_NAMESPACE") or _namespace(folder / "namespace"),
        origin=ConnectionOrigin(str(folder)),
    )


def _server(variables: Mapping[str, str]) -> str:
    host, port = variables.get(_HOST, ""), variables.get(_PORT, "")
    if not host or not port:
        raise Misconfigured(
            f"{_HOST} and {_PORT}: not set; this is not a pod, so name a kubeconfig instead"
        )
    if not _PORT_NUMBER.fullmatch(port) or not 0 < int(port) <= _HIGHEST_PORT:
        raise Misconfigured(f"{_PORT}: not the number of a port")
    if not _HOST_NAME.fullmatch(host) and not _is_ipv6(host):
        raise Misconfigured(f"{_HOST}: neither an address nor the name of a host")
    return f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}"


def _is_ipv6(host: str) -> bool:
    try:
        IPv6Address(host)
    except ValueError:
        return False
    return True


def _namespace(path: Path) -> str:
    try:
        return read_limited(path).decode("utf-8", "replace").strip() or "default"
    except NoCredentials:
        return "default"

"""Kubeconfig files: where a plane is, and the credentials for it."""

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

import yaml

from kubekit.plane import ClientPair

_NAME = "compute"


Credential = str | ClientPair


@dataclass(frozen=True, slots=True)
class PlaneContext:
    """A plane and its user: the path of the plane, and the names of both in the file."""

    path: str
    cluster: str
    user: str


def kubeconfig(
    url: str, authority: bytes, credential: Credential, *, name: str = _NAME, user: str = _NAME
) -> bytes:
    """A kubeconfig for one plane. It contains the CA and the credential, so it can be moved."""
    contexts = {name: PlaneContext("", name, user)}
    return kubeconfig_of_many(url, contexts, name, authority, {user: credential})


def kubeconfig_of_many(
    url: str,
    contexts: Mapping[str, PlaneContext],
    current: str,
    authority: bytes,
    users: Mapping[str, Credential],
) -> bytes:
    """A kubeconfig for several planes of one server: contexts and users by name.

    It is JSON, which is YAML too: commands read it without importing a parser of YAML.
    """
    server, trusted = reachable(url), _base64(authority)
    paths = {context.cluster: context.path for context in contexts.values()}
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [
            {
                "name": name,
                "cluster": {
                    "server": server + path.rstrip("/"),
                    "certificate-authority-data": trusted,
                },
            }
            for name, path in paths.items()
        ],
        "users": [{"name": name, "user": _user(users[name])} for name in users],
        "contexts": [
            {"name": name, "context": _context(context)} for name, context in contexts.items()
        ],
        "current-context": current,
    }
    return f"{json.dumps(document, indent=2)}\n".encode()


def current_context(file: Path) -> str:
    """The current context of a kubeconfig; empty where there is none, or no such file."""
    try:
        document = yaml.safe_load(file.read_bytes())
    except (OSError, yaml.YAMLError):
        return ""
    current = document.get("current-context") if isinstance(document, dict) else ""
    return current if isinstance(current, str) else ""


def reachable(url: str) -> str:
    """The URL for a client on this machine: a server on every address also listens on the loopback."""
    parts = urlsplit(url)
    host = _loopback_for(parts.hostname or "")
    return parts._replace(netloc=f"{host}:{parts.port}").geturl() if host else url


def _context(context: PlaneContext) -> dict[str, str]:
    return {"cluster": context.cluster, "user": context.user, "namespace": "default"}


def _user(credential: Credential) -> dict[str, str]:
    if isinstance(credential, str):
        return {"token": credential}
    return {
        "client-certificate-data": _base64(credential.certificate),
        "client-key-data": _base64(credential.key),
    }


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _loopback_for(host: str) -> str:
    """The loopback address for a server on every address; empty for a server on one of them."""
    try:
        address = ip_address(host)
    except ValueError:
        return ""
    if not address.is_unspecified:
        return ""
    return "127.0.0.1" if address.version == 4 else "[::1]"  # noqa: PLR2004 - of the protocol

"""The file that tells kubectl, and every other client, where a plane is and how to be let in."""

import base64
from collections.abc import Mapping
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

import yaml

from compute.plane.http.certificates import ClientPair

_NAME = "compute"


def kubeconfig(url: str, authority: bytes, credential: str | ClientPair) -> bytes:
    """A kubeconfig that can be moved: the CA and the credential, a token or not, are in it."""
    return kubeconfig_of_many(url, {_NAME: ""}, _NAME, authority, credential)


def kubeconfig_of_many(
    url: str,
    contexts: Mapping[str, str],
    current: str,
    authority: bytes,
    credential: str | ClientPair,
) -> bytes:
    """A kubeconfig for several planes of one server: contexts by name, each with its path."""
    server, trusted = reachable(url), _base64(authority)
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
            for name, path in contexts.items()
        ],
        "users": [{"name": _NAME, "user": _user(credential)}],
        "contexts": [
            {"name": name, "context": {"cluster": name, "user": _NAME, "namespace": "default"}}
            for name in contexts
        ],
        "current-context": current,
    }
    return yaml.safe_dump(document, sort_keys=False).encode()


def current_context(file: Path) -> str:
    """The context that a kubeconfig is set to; empty where there is none, or no such file."""
    try:
        document = yaml.safe_load(file.read_bytes())
    except (OSError, yaml.YAMLError):
        return ""
    current = document.get("current-context") if isinstance(document, dict) else ""
    return current if isinstance(current, str) else ""


def reachable(url: str) -> str:
    """The URL for a client on this machine: a server on every address is also on the loopback."""
    parts = urlsplit(url)
    host = _loopback_for(parts.hostname or "")
    return parts._replace(netloc=f"{host}:{parts.port}").geturl() if host else url


def _user(credential: str | ClientPair) -> dict[str, str]:
    if isinstance(credential, str):
        return {"token": credential}
    return {
        "client-certificate-data": _base64(credential.certificate),
        "client-key-data": _base64(credential.key),
    }


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _loopback_for(host: str) -> str:
    """Where to find a server on every address; empty for a server on one of them."""
    try:
        address = ip_address(host)
    except ValueError:
        return ""
    if not address.is_unspecified:
        return ""
    return "127.0.0.1" if address.version == 4 else "[::1]"  # noqa: PLR2004 - of the protocol

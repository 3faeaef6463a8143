"""What a credential plugin is told, and what it answers: ``ExecCredential`` of Kubernetes.

Nothing of an answer is ever shown: what is no answer may still hold a token.
"""

import base64
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any, Final

import msgspec

from kubekit.client import documents
from kubekit.client.connection import ClientCertificate
from kubekit.client.credentials import pair_problem, sendable

GROUP: Final = "client.authentication.k8s.io"
VERSIONS: Final = (f"{GROUP}/v1", f"{GROUP}/v1beta1")
EXTENSION: Final = f"{GROUP}/exec"  # the cluster's extension that is handed on to the plugin


class BadAnswer(ValueError):
    """An answer that gives no credentials. Says why, and nothing of what it holds."""


@dataclass(frozen=True, slots=True)
class PluginCredentials:
    """What a plugin gave. Without an end it is good until a server refuses it."""

    token: str = field(default="", repr=False)
    certificate: ClientCertificate | None = None
    ends: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterInfo:
    """The server that credentials are wanted for, told to plugins that ask for it."""

    server: str
    server_name: str = ""
    insecure: bool = False
    authority: bytes | None = None
    proxy: str = ""
    compression: bool = True
    extension: object = None

    def document(self) -> dict[str, object]:
        """The cluster as plugins read it, without what says nothing."""
        authority = base64.b64encode(self.authority).decode() if self.authority else ""
        said = {
            "server": self.server,
            "tls-server-name": self.server_name,
            "insecure-skip-tls-verify": self.insecure,
            "certificate-authority-data": authority,
            "proxy-url": self.proxy,
            "disable-compression": not self.compression,
            "config": self.extension,
        }
        return {name: value for name, value in said.items() if value}


def question(api_version: str, cluster: ClusterInfo | None, *, interactive: bool) -> str:
    """What the plugin finds in ``KUBERNETES_EXEC_INFO``."""
    spec: dict[str, object] = {"cluster": cluster.document()} if cluster else {}
    spec["interactive"] = interactive
    asked = {"kind": "ExecCredential", "apiVersion": api_version, "spec": spec}
    return msgspec.json.encode(asked).decode()


def issued(answer: bytes, api_version: str) -> PluginCredentials:
    """What the answer gives. It raises `BadAnswer`."""
    said = _read(answer)
    if said.api_version != api_version:
        raise BadAnswer(
            f"its answer has the apiVersion {_known(said.api_version)}, but the kubeconfig says "
            f"{api_version}; make them the same"
        )
    if said.status is None:
        raise BadAnswer("its answer has no status")
    return _issued(said.status)


class _Status(msgspec.Struct, rename="camel"):
    token: str | None = None
    client_certificate_data: str | None = None
    client_key_data: str | None = None
    expiration_timestamp: Annotated[datetime, msgspec.Meta(tz=True)] | None = None


class _Answer(msgspec.Struct, rename="camel"):
    api_version: str = ""
    kind: str = ""
    status: _Status | None = None


def _read(answer: bytes) -> _Answer:
    try:
        found = documents.read(answer)
        said = msgspec.convert(_only(found), _Answer)
    except documents.UnreadableDocument as error:
        place = error.place.lstrip(", ")
        raise BadAnswer(
            "its answer is neither JSON nor YAML" + (f", at {place}" if place else "")
        ) from None
    except msgspec.ValidationError as error:
        raise BadAnswer(f"its answer is no ExecCredential: {error}") from None
    if said.kind not in {"ExecCredential", ""}:
        raise BadAnswer("its answer is of another kind than ExecCredential")
    return said


def _only(found: list[Any]) -> object:
    if len(found) != 1 or found[0] is None:
        raise BadAnswer("it printed no ExecCredential")
    return found[0]


def _known(api_version: str) -> str:
    return api_version if api_version in VERSIONS else "of something else"


def _issued(status: _Status) -> PluginCredentials:
    certificate, key = status.client_certificate_data, status.client_key_data
    if bool(certificate) != bool(key):
        raise BadAnswer("its answer has only one of clientCertificateData and clientKeyData")
    if not status.token and not certificate:
        raise BadAnswer("its answer has neither a token nor a client certificate")
    if status.token and not sendable(status.token):
        raise BadAnswer("status.token of its answer holds characters that no header can carry")
    pair = _pair(certificate, key) if certificate and key else None
    return PluginCredentials(status.token or "", pair, status.expiration_timestamp)


def _pair(certificate: str, key: str) -> ClientCertificate:
    pair = ClientCertificate(certificate.encode("utf-8", "replace"), key.encode("utf-8", "replace"))
    problem = pair_problem(pair)
    if problem:
        raise BadAnswer(f"clientCertificateData and clientKeyData of its answer: {problem}")
    return pair

"""The input and the output of a credential plugin: ``ExecCredential`` of Kubernetes.

No message contains any of the output, because even an invalid one may hold a token.
"""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any, Final

import msgspec

from kubekit.client import documents
from kubekit.client.connection import ClientCertificate
from kubekit.client.credentials import pair_problem, sendable
from kubekit.client.kubeconfig.cluster_info import ClusterInfo

GROUP: Final = "client.authentication.k8s.io"
VERSIONS: Final = (f"{GROUP}/v1", f"{GROUP}/v1beta1")


class InvalidOutput(ValueError):
    """An output without valid credentials. The message says why, and quotes nothing from it."""


@dataclass(frozen=True, slots=True)
class PluginCredentials:
    """The credentials of a plugin. Without an expiry they are used until a server refuses them."""

    token: str = field(default="", repr=False)
    certificate: ClientCertificate | None = None
    ends: datetime | None = None


def exec_info(api_version: str, cluster: ClusterInfo | None, *, interactive: bool) -> str:
    """The value of ``KUBERNETES_EXEC_INFO`` for the plugin."""
    spec: dict[str, object] = {"cluster": cluster.document()} if cluster else {}
    spec["interactive"] = interactive
    document = {"kind": "ExecCredential", "apiVersion": api_version, "spec": spec}
    return msgspec.json.encode(document).decode()


def issued(output: bytes, api_version: str) -> PluginCredentials:
    """The credentials in the output of a plugin. It raises `InvalidOutput`."""
    credential = _read(output)
    if credential.api_version != api_version:
        raise InvalidOutput(
            f"its answer has the apiVersion {_known(credential.api_version)}, but the kubeconfig says "
            f"{api_version}; make them the same"
        )
    if credential.status is None:
        raise InvalidOutput("its answer has no status")
    return _issued(credential.status)


class _Status(msgspec.Struct, rename="camel"):
    token: str | None = None
    client_certificate_data: str | None = None
    client_key_data: str | None = None
    expiration_timestamp: Annotated[datetime, msgspec.Meta(tz=True)] | None = None


class _Answer(msgspec.Struct, rename="camel"):
    api_version: str = ""
    kind: str = ""
    status: _Status | None = None


def _read(output: bytes) -> _Answer:
    try:
        values = documents.read(output)
        credential = msgspec.convert(_only(values), _Answer)
    except documents.UnreadableDocument as error:
        location = error.location.lstrip(", ")
        raise InvalidOutput(
            "its answer is neither JSON nor YAML" + (f", at {location}" if location else "")
        ) from None
    except msgspec.ValidationError as error:
        raise InvalidOutput(f"its answer is no ExecCredential: {error}") from None
    if credential.kind not in {"ExecCredential", ""}:
        raise InvalidOutput("its answer is of another kind than ExecCredential")
    return credential


def _only(values: list[Any]) -> object:
    if len(values) != 1 or values[0] is None:
        raise InvalidOutput("it printed no ExecCredential")
    return values[0]


def _known(api_version: str) -> str:
    return api_version if api_version in VERSIONS else "of something else"


def _issued(status: _Status) -> PluginCredentials:
    certificate, key = status.client_certificate_data, status.client_key_data
    if bool(certificate) != bool(key):
        raise InvalidOutput("its answer has only one of clientCertificateData and clientKeyData")
    if not status.token and not certificate:
        raise InvalidOutput("its answer has neither a token nor a client certificate")
    if status.token and not sendable(status.token):
        raise InvalidOutput(
            "status.token of its answer holds characters that cannot be sent in a header"
        )
    pair = _pair(certificate, key) if certificate and key else None
    return PluginCredentials(status.token or "", pair, status.expiration_timestamp)


def _pair(certificate: str, key: str) -> ClientCertificate:
    pair = ClientCertificate(certificate.encode("utf-8", "replace"), key.encode("utf-8", "replace"))
    problem = pair_problem(pair)
    if problem:
        raise InvalidOutput(f"clientCertificateData and clientKeyData of its answer: {problem}")
    return pair

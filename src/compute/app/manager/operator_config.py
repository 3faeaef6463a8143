"""The configuration file of a manager: apiserver.config.datumapis.com/v1alpha1, WorkloadOperator.

Reading is strict: an unknown field is an error, because a typing error must not leave a setting at
its default. Every error names the file and the path of the field.
"""

import re
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final, Literal

import msgspec

from kubekit.client import documents
from kubekit.runtime.serving.listen_address import OFF, AddressError, parse_listen_address

API_VERSION: Final = "apiserver.config.datumapis.com/v1alpha1"
KIND: Final = "WorkloadOperator"

_LATER_FIELDS: Final = ("internalDNS", "locationSource")  # of later releases of the original
_KIBIBYTE: Final = 1024
_HIGHEST_PORT: Final = 65535
_UNKNOWN: Final = re.compile(r"Object contains unknown field `(?P<name>[^`]*)`")
_MISSING: Final = re.compile(r"Object missing required field `(?P<name>[^`]*)`")
_NOT_A_MODE: Final = "Invalid enum value "  # the mode is the only enumeration of the file
_AT: Final = re.compile(r" - at `(?:key in )?\$\.?(?P<path>[^`]*)`$")


class BadConfig(ValueError):
    """A configuration that cannot be used. The message names the file, the field and the fix."""


class _Strict(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True
):
    """A part of the file."""


class TlsSecretReference(_Strict, frozen=True, kw_only=True):
    """A Secret of type kubernetes.io/tls in the manager's own cluster."""

    name: str
    namespace: str


class TlsSettings(_Strict, frozen=True, kw_only=True):
    """Where a server has its certificate: in a Secret, or in files of a folder."""

    secret_ref: TlsSecretReference | None = None
    cert_dir: str = ""
    cert_name: str = "tls.crt"
    key_name: str = "tls.key"


class MetricsServerSettings(_Strict, frozen=True, kw_only=True):
    """The server of /metrics. It is off with the address "0"."""

    secure_serving: bool = True
    bind_address: str = OFF
    tls: TlsSettings = msgspec.field(default_factory=TlsSettings)


class WebhookServerSettings(
    _Strict, frozen=True, kw_only=True, rename={"client_ca_name": "clientCAName"}
):
    """The server of the admission webhooks."""

    host: str = ""
    port: int = 9443
    tls: TlsSettings = msgspec.field(default_factory=TlsSettings)
    client_ca_name: str = ""


class ConsumerProjection(_Strict, frozen=True, kw_only=True):
    """Engages a project only while it consumes a service."""

    provider_project: str
    service_names: tuple[str, ...] = ()


class DiscoverySettings(_Strict, frozen=True, kw_only=True):
    """Where projects are found, and which credentials are used there."""

    mode: Literal["single", "milo"] = "single"
    internal_service_discovery: bool = False
    discovery_kubeconfig_path: str = ""
    project_kubeconfig_path: str = ""
    cluster_name: str = ""
    quota_kubeconfig_path: str = ""
    consumer_scoped_projection: ConsumerProjection | None = None


class FeatureFlags(_Strict, frozen=True, kw_only=True):
    """Behaviour that is switched on for the whole platform."""

    enable_referenced_data_gate: bool = False


class ReferencedDataSettings(_Strict, frozen=True, kw_only=True):
    """Limits of the ConfigMaps and Secrets that templates name."""

    per_object_limit_bytes: int = 256 * _KIBIBYTE
    aggregate_limit_bytes: int = 1024 * _KIBIBYTE


class WorkloadOperator(_Strict, frozen=True, kw_only=True):
    """The whole file."""

    api_version: str = API_VERSION
    kind: str = KIND
    metrics_server: MetricsServerSettings = msgspec.field(default_factory=MetricsServerSettings)
    webhook_server: WebhookServerSettings | None = None
    discovery: DiscoverySettings = msgspec.field(default_factory=DiscoverySettings)
    feature_flags: FeatureFlags = msgspec.field(default_factory=FeatureFlags)
    referenced_data: ReferencedDataSettings = msgspec.field(default_factory=ReferencedDataSettings)


DEFAULT: Final = WorkloadOperator()


def load(file: Path) -> WorkloadOperator:
    """The configuration in a file of YAML or JSON."""
    try:
        values = documents.read(file.read_bytes())
    except OSError as error:
        raise BadConfig(f"{file}: cannot be read: {error.strerror}") from error
    except documents.UnreadableDocument as error:
        raise BadConfig(f"{file}{error.location}: {error.problem}") from error
    if len(values) > 1:
        raise BadConfig(f"{file}: has {len(values)} documents; keep the {KIND} alone")
    value = values[0] if values and values[0] is not None else {}
    config = _decoded(file, _without_nulls(value))
    for field, problem in faults(config):
        raise BadConfig(f"{file}: {field}: {problem}")
    return config


def faults(config: WorkloadOperator) -> Iterator[tuple[str, str]]:
    """The fields whose values cannot be used, and why."""
    if (config.api_version, config.kind) != (API_VERSION, KIND):
        yield "kind", f"must be {KIND} of {API_VERSION}, not {config.kind} of {config.api_version}"
    if config.webhook_server and not 0 <= config.webhook_server.port <= _HIGHEST_PORT:
        yield "webhookServer.port", f"must be from 0 to {_HIGHEST_PORT}"
    yield from _faults_of_servers(config)
    yield from _unsupported(config)
    yield from _faults_of_discovery(config.discovery)
    limits = config.referenced_data
    if limits.per_object_limit_bytes <= 0:
        yield "referencedData.perObjectLimitBytes", "must be greater than 0"
    if limits.aggregate_limit_bytes < limits.per_object_limit_bytes:
        yield "referencedData.aggregateLimitBytes", "must not be less than perObjectLimitBytes"


def _faults_of_servers(config: WorkloadOperator) -> Iterator[tuple[str, str]]:
    """An address that no server can listen on, and certificates from two sources."""
    try:
        parse_listen_address(config.metrics_server.bind_address, "metricsServer.bindAddress")
    except AddressError as error:
        field, _, problem = str(error).partition(": ")
        yield field, problem
    servers = {"metricsServer": config.metrics_server, "webhookServer": config.webhook_server}
    for name, server in servers.items():
        if server is not None and server.tls.secret_ref is not None and server.tls.cert_dir:
            yield f"{name}.tls", "has secretRef and certDir; keep one of them"


def _unsupported(config: WorkloadOperator) -> Iterator[tuple[str, str]]:
    """Settings of the file that this version cannot honour. Ignoring them would be unsafe."""
    if config.feature_flags.enable_referenced_data_gate:
        why = "this version delivers no referenced data, so the gate would never open; set it to false"
        yield "featureFlags.enableReferencedDataGate", why


def _faults_of_discovery(discovery: DiscoverySettings) -> Iterator[tuple[str, str]]:
    """Fields that only mean something where projects come and go."""
    milo = {
        "internalServiceDiscovery": discovery.internal_service_discovery,
        "consumerScopedProjection": discovery.consumer_scoped_projection,
    }
    for field, value in milo.items():
        if value and discovery.mode == "single":
            yield f"discovery.{field}", 'needs discovery.mode "milo"'
    projection = discovery.consumer_scoped_projection
    if projection and not projection.provider_project:
        yield "discovery.consumerScopedProjection.providerProject", "is required"


def _decoded(file: Path, value: object) -> WorkloadOperator:
    try:
        return msgspec.convert(value, WorkloadOperator)
    except msgspec.ValidationError as error:
        raise BadConfig(f"{file}: {_explained(str(error))}") from error


def _explained(message: str) -> str:
    """What msgspec says, with the path first, as it is written in the file."""
    at = _AT.search(message)
    path, problem = (at["path"], message[: at.start()]) if at else ("", message)
    if match := _UNKNOWN.search(problem):
        return f"{_joined(path, match['name'])}: {_unknown(match['name'])}"
    if match := _MISSING.search(problem):
        return f"{_joined(path, match['name'])}: is required"
    if problem.startswith(_NOT_A_MODE):
        return f"{path}: must be single or milo, not {problem.removeprefix(_NOT_A_MODE)}"
    return f"{path or 'the file'}: {problem[:1].lower()}{problem[1:]}"


def _joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _unknown(name: str) -> str:
    if name in _LATER_FIELDS:
        return "is not supported by this version; remove it"
    near = get_close_matches(name, _FIELDS, 1)
    return "there is no such field" + (f"; did you mean {near[0]}?" if near else "")


def _fields(*structs: type[msgspec.Struct]) -> Iterable[str]:
    return [field.encode_name for struct in structs for field in msgspec.structs.fields(struct)]


_FIELDS: Final = _fields(
    WorkloadOperator,
    MetricsServerSettings,
    WebhookServerSettings,
    TlsSettings,
    TlsSecretReference,
    DiscoverySettings,
    ConsumerProjection,
    FeatureFlags,
    ReferencedDataSettings,
)


def _without_nulls(value: Any) -> Any:  # noqa: ANN401 - any value of YAML
    """The value without fields that are null, which means absent."""
    if isinstance(value, dict):
        return {key: _without_nulls(each) for key, each in value.items() if each is not None}
    return [_without_nulls(each) for each in value] if isinstance(value, list) else value

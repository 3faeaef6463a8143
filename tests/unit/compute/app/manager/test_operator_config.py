"""The configuration file of a manager: every field, and every way to get it wrong."""

from pathlib import Path

import pytest

from compute.app.manager.operator_config import DEFAULT, BadConfig, WorkloadOperator, load

HEAD = "apiVersion: apiserver.config.datumapis.com/v1alpha1\nkind: WorkloadOperator\n"
EVERY_FIELD = f"""{HEAD}
metricsServer:
  secureServing: false
  bindAddress: ":8443"
  tls: {{certDir: /certs, certName: a.crt, keyName: a.key}}
webhookServer:
  host: 127.0.0.1
  port: 9444
  clientCAName: ca.crt
  tls: {{secretRef: {{name: webhook, namespace: compute-system}}}}
discovery:
  mode: milo
  internalServiceDiscovery: true
  discoveryKubeconfigPath: /etc/core
  projectKubeconfigPath: /etc/projects
  clusterName: dfw
  quotaKubeconfigPath: /etc/quota
  consumerScopedProjection: {{providerProject: datum, serviceNames: [compute.datumapis.com]}}
featureFlags:
  enableReferencedDataGate: false
referencedData:
  perObjectLimitBytes: 1024
  aggregateLimitBytes: 4096
"""


def read(folder: Path, text: str) -> WorkloadOperator:
    file = folder / "config.yaml"
    file.write_text(text)
    return load(file)


def test_every_field_is_read(tmp_path):
    config = read(tmp_path, EVERY_FIELD)

    assert config.metrics_server.bind_address == ":8443"
    assert not config.metrics_server.secure_serving
    assert config.metrics_server.tls.cert_name == "a.crt"
    assert config.webhook_server is not None
    assert (config.webhook_server.port, config.webhook_server.client_ca_name) == (9444, "ca.crt")
    assert config.webhook_server.tls.secret_ref is not None
    assert config.webhook_server.tls.secret_ref.name == "webhook"
    assert config.discovery.mode == "milo"
    assert config.discovery.internal_service_discovery
    assert config.discovery.cluster_name == "dfw"
    assert config.discovery.quota_kubeconfig_path == "/etc/quota"
    projection = config.discovery.consumer_scoped_projection
    assert projection is not None
    assert projection.service_names == ("compute.datumapis.com",)
    assert config.referenced_data.aggregate_limit_bytes == 4096


@pytest.mark.parametrize(
    "text", [HEAD, "", "# nothing\n", f"{HEAD}discovery:\nwebhookServer: null\n"]
)
def test_what_is_not_set_has_its_default(tmp_path, text):
    assert read(tmp_path, text) == DEFAULT


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("discovery: {mode: singel}", "discovery.mode: must be single or milo, not 'singel'"),
        (
            "discovery: {clusterNam: dfw}",
            "discovery.clusterNam: there is no such field; did you mean clusterName?",
        ),
        ("discoverey: {}", "discoverey: there is no such field; did you mean discovery?"),
        ("zzz: 1", "zzz: there is no such field"),
        (
            "referencedData: {perObjectLimitByte: 1}",
            "referencedData.perObjectLimitByte: there is no such field; "
            "did you mean perObjectLimitBytes?",
        ),
        (
            "internalDNS: {projects: [a]}",
            "internalDNS: is not supported by this version; remove it",
        ),
        ("locationSource: x", "locationSource: is not supported by this version; remove it"),
        (
            "metricsServer: {secureServing: 1}",
            "metricsServer.secureServing: expected `bool`, got `int`",
        ),
        ("webhookServer: {port: 70000}", "webhookServer.port: must be from 0 to 65535"),
        (
            "webhookServer: {tls: {secretRef: {name: a}}}",
            "webhookServer.tls.secretRef.namespace: is required",
        ),
        (
            "metricsServer: {bindAddress: '8443'}",
            "metricsServer.bindAddress: '8443' is not an address to listen on: it has no port; "
            'use ":8081", "127.0.0.1:8081", "[::1]:8081", or "0" for none',
        ),
        (
            "webhookServer: {tls: {certDir: /c, secretRef: {name: a, namespace: b}}}",
            "webhookServer.tls: has secretRef and certDir; keep one of them",
        ),
        (
            "metricsServer: {tls: {certDir: /c, secretRef: {name: a, namespace: b}}}",
            "metricsServer.tls: has secretRef and certDir; keep one of them",
        ),
        ("[]", "the file: expected `object`, got `array`"),
        (
            "referencedData: {perObjectLimitBytes: 0}",
            "referencedData.perObjectLimitBytes: must be greater than 0",
        ),
        (
            "referencedData: {perObjectLimitBytes: 2, aggregateLimitBytes: 1}",
            "referencedData.aggregateLimitBytes: must not be less than perObjectLimitBytes",
        ),
        (
            "featureFlags: {enableReferencedDataGate: true}",
            "featureFlags.enableReferencedDataGate: this version delivers no referenced data, so the "
            "gate would never open; set it to false",
        ),
        (
            "discovery: {consumerScopedProjection: {providerProject: datum}}",
            'discovery.consumerScopedProjection: needs discovery.mode "milo"',
        ),
        (
            'discovery: {mode: milo, consumerScopedProjection: {providerProject: ""}}',
            "discovery.consumerScopedProjection.providerProject: is required",
        ),
        (
            "discovery: {mode: milo, consumerScopedProjection: {}}",
            "discovery.consumerScopedProjection.providerProject: is required",
        ),
        (
            "discovery: {internalServiceDiscovery: true}",
            'discovery.internalServiceDiscovery: needs discovery.mode "milo"',
        ),
        (
            "kind: Deployment",
            "kind: must be WorkloadOperator of apiserver.config.datumapis.com/v1alpha1, not "
            "Deployment of apiserver.config.datumapis.com/v1alpha1",
        ),
        ("{}\n---\n{}", "has 2 documents; keep the WorkloadOperator alone"),
    ],
)
def test_an_error_names_the_file_and_the_field(tmp_path, text, problem):
    with pytest.raises(BadConfig) as refusal:
        read(tmp_path, text)

    assert str(refusal.value).startswith(str(tmp_path / "config.yaml"))
    assert str(refusal.value).endswith(f": {problem}")


def test_a_file_that_is_not_yaml_is_refused_with_its_line(tmp_path):
    with pytest.raises(BadConfig, match=r"config\.yaml, line 1, column \d+: "):
        read(tmp_path, "a: b: c")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(BadConfig, match=r"config\.yaml: cannot be read: No such file"):
        load(tmp_path / "config.yaml")

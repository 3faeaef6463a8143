"""Definitions of kinds that other products bring to a cluster, as far as our manifests need them.

They accept any field, so that strict validation says something of our own kinds and of Kubernetes' only.
"""

from collections.abc import Iterator

from tests.peers.deployed.kustomizations import Document

_KINDS = (
    ("cert-manager.io", "v1", "Certificate", "certificates"),
    ("cert-manager.io", "v1", "Issuer", "issuers"),
    ("monitoring.coreos.com", "v1", "PrometheusRule", "prometheusrules"),
    ("monitoring.coreos.com", "v1", "ServiceMonitor", "servicemonitors"),
    ("iam.miloapis.com", "v1alpha1", "ProtectedResource", "protectedresources"),
    ("iam.miloapis.com", "v1alpha1", "Role", "roles"),
)


def definitions() -> Iterator[Document]:
    """A definition for each."""
    for group, version, kind, plural in _KINDS:
        schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
        versions = [
            {
                "name": version,
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": schema},
            }
        ]
        yield {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{plural}.{group}"},
            "spec": {
                "group": group,
                "scope": "Namespaced",
                "names": {"kind": kind, "plural": plural},
                "versions": versions,
            },
        }

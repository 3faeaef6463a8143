"""Joining a cell to Karmada, as its own command line does it."""

import base64

from tests.peers.api_server import ApiServer
from tests.peers.stack.admin import Admin, Document
from tests.peers.stack.karmada import CLUSTERS_NAMESPACE as NAMESPACE

CLUSTERS = "/apis/cluster.karmada.io/v1alpha1/clusters"
_CITY = "topology.datum.net/city-code"
_OWN = {"karmada.io/system": "true"}
_RBAC = "rbac.authorization.k8s.io"
_SECRETS = f"/api/v1/namespaces/{NAMESPACE}/secrets"


async def join(hub: Admin, cell: Admin, server: ApiServer, city: str) -> None:
    """Make the cell a member that serves a city. Karmada's controllers need not run yet."""
    name = server.name
    tokens = await _admit(cell, name)
    bundle = (server.certificates / "ca.crt").read_bytes()
    secrets = [
        _secret(name, caBundle=bundle, token=tokens[0]),
        _secret(f"{name}-impersonator", token=tokens[1]),
    ]
    for secret in secrets:
        await hub.create(_SECRETS, secret)
    system = await cell.get("/api/v1/namespaces/kube-system")
    cluster = await hub.create(CLUSTERS, _cluster(server, city, system["metadata"]["uid"]))
    owner = {
        "apiVersion": "cluster.karmada.io/v1alpha1",
        "kind": "Cluster",
        "name": name,
        "uid": cluster["metadata"]["uid"],
        "controller": True,
    }
    for secret in secrets:
        owned = {"metadata": {"ownerReferences": [owner]}}
        await hub.merge(f"{_SECRETS}/{secret['metadata']['name']}", owned)


async def _admit(cell: Admin, name: str) -> list[bytes]:
    """The tokens that the hub has for the cell: its own, and the one that may impersonate."""
    await cell.create("/api/v1/namespaces", {"metadata": {"name": NAMESPACE, "labels": _OWN}})
    accounts = (f"karmada-{name}", "karmada-impersonator")
    for account in accounts:
        metadata = {"name": account, "labels": _OWN}
        path = f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts"
        await cell.create(path, {"metadata": metadata})
    role = f"karmada-controller-manager:karmada-{name}"
    rules = [
        {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]},
        {"nonResourceURLs": ["*"], "verbs": ["get"]},
    ]
    reference = {"apiGroup": _RBAC, "kind": "ClusterRole", "name": role}
    subject = {"kind": "ServiceAccount", "name": accounts[0], "namespace": NAMESPACE}
    metadata = {"name": role, "labels": _OWN}
    path = f"/apis/{_RBAC}/v1"
    await cell.create(f"{path}/clusterroles", {"metadata": metadata, "rules": rules})
    binding = {"metadata": metadata, "roleRef": reference, "subjects": [subject]}
    await cell.create(f"{path}/clusterrolebindings", binding)
    return [(await cell.token(account, NAMESPACE)).encode() for account in accounts]


def _secret(name: str, **data: bytes) -> Document:
    encoded = {key: base64.b64encode(value).decode() for key, value in data.items()}
    return {"metadata": {"name": name, "labels": _OWN}, "data": encoded}


def _cluster(server: ApiServer, city: str, uid: str) -> Document:
    return {
        "apiVersion": "cluster.karmada.io/v1alpha1",
        "kind": "Cluster",
        "metadata": {"name": server.name, "labels": {_CITY: city}},
        "spec": {
            "id": uid,
            "syncMode": "Push",
            "apiEndpoint": server.url,
            "secretRef": {"namespace": NAMESPACE, "name": server.name},
            "impersonatorSecretRef": {
                "namespace": NAMESPACE,
                "name": f"{server.name}-impersonator",
            },
        },
    }

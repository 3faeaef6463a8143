"""The machines of a cell: one node, the scheduler, and kwok, which plays the kubelet.

A Pod runs as soon as it is bound. One with an image whose name contains "does-not-exist" never does:
its image cannot be pulled. The simulated provider knows the same images.
"""

from pathlib import Path

from tests.peers.api_server import ApiServer
from tests.peers.children import Program, program
from tests.peers.ports import free_ports
from tests.peers.stack.admin import Admin, Document

NODES = "/api/v1/nodes"
STAGES = Path(__file__).with_name("kwok_stages.yaml")


def kwok(server: ApiServer) -> Program:
    flags: dict[str, object] = {
        "kubeconfig": server.kubeconfig("admin"),
        "manage-all-nodes": "true",
        "config": STAGES,
        "node-ip": "127.0.0.1",
        "cidr": "10.244.0.1/16",
    }
    return program(f"{server.name}-kwok", server.binaries / "kwok", flags)


def scheduler(server: ApiServer) -> Program:
    config = server.kubeconfig("scheduler")
    flags: dict[str, object] = {
        "kubeconfig": config,
        "authentication-kubeconfig": config,
        "authorization-kubeconfig": config,
        "bind-address": "127.0.0.1",
        "secure-port": free_ports(1)[0],
        "cert-dir": server.certificates / "scheduler",
        "leader-elect": "false",
        "profiling": "false",
    }
    name = f"{server.name}-kube-scheduler"
    return program(name, server.binaries / "kube-scheduler", flags)


async def add_node(admin: Admin, name: str = "node-1") -> Document:
    """A node that is ready as soon as kwok has seen it."""
    labels = {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux"}
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}}
    return await admin.create(NODES, node)

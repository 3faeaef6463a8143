"""Whether a node can say what runs on it."""

from typing import Final

from kubekit.api.kinds.nodes import ClusterNode

_READY: Final = "Ready"


def fault(node: ClusterNode | None) -> str | None:
    """Why a node cannot be relied on, as a sentence; None if it can, or nothing is known of it."""
    if node is None:
        return None
    for condition in node.status.conditions:
        if condition.type == _READY and condition.status != "True":
            name = node.metadata.name
            state = "is not ready" if condition.status == "False" else "does not report"
            why = condition.message or condition.reason
            return f"The node {name} {state}: {why}" if why else f"The node {name} {state}"
    return None

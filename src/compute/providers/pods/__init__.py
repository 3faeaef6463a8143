"""The provider that runs each Instance as a Pod of the cell's own cluster, with its Service.

    controller     the reconciler of one Instance, and its permissions
    pod_objects    reads, creates and deletes the Pod and what is beside it
    CELL_SELECTORS what the provider watches of the cell's Pods, Services and NetworkPolicies

`compute.decide.pods` has the decisions. Start reading at `controller.PodProvider`.
"""

from compute.decide.pods.pod_settings import PodSettings
from compute.providers.pods.controller import CELL_SELECTORS, PERMISSIONS, controllers

__all__ = ["CELL_SELECTORS", "PERMISSIONS", "PodSettings", "controllers"]

"""The labels, annotations and finalizers of Karmada, spelt as Karmada spells them."""

from typing import Final

# On a policy, on the objects it has claimed, and on their bindings, Works and copies.
POLICY_NAME: Final = "propagationpolicy.karmada.io/name"
POLICY_NAMESPACE: Final = "propagationpolicy.karmada.io/namespace"
POLICY_ID: Final = "propagationpolicy.karmada.io/permanent-id"  # a label; these ids outlive uids

# On a Work and on the copy in a cell: the binding they belong to.
BINDING_NAME: Final = "resourcebinding.karmada.io/name"
BINDING_NAMESPACE: Final = "resourcebinding.karmada.io/namespace"
BINDING_ID: Final = "resourcebinding.karmada.io/permanent-id"  # a label

# On the copy in a cell: the Work it was made from, and the object on the hub.
WORK_NAME: Final = "work.karmada.io/name"
WORK_NAMESPACE: Final = "work.karmada.io/namespace"
WORK_ID: Final = "work.karmada.io/permanent-id"  # a label
CONFLICTS: Final = "work.karmada.io/conflict-resolution"  # abort, or overwrite an object that the engine did not make
TEMPLATE_UID: Final = "resourcetemplate.karmada.io/uid"
TEMPLATE_GENERATION: Final = "resourcetemplate.karmada.io/generation"
MANAGED_LABELS: Final = "resourcetemplate.karmada.io/managed-labels"  # keys, joined by commas
MANAGED_ANNOTATIONS: Final = "resourcetemplate.karmada.io/managed-annotations"
MANAGED: Final = "karmada.io/managed"  # a label: "true" on every copy

# Finalizers, and when the engine removes them.
EXECUTION: Final = "karmada.io/execution-controller"  # Work: until the copy is gone from the cell
BINDING: Final = "karmada.io/binding-controller"  # ResourceBinding: until its Works are deleted
CLUSTER: Final = "karmada.io/cluster-controller"  # Cluster: until there is no Work for it

CLUSTER_NAMESPACE: Final = "karmada-cluster"  # on the hub, for the leases of cells

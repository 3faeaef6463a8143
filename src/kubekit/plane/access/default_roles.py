"""The default roles and bindings of every plane, as in Kubernetes.

    cluster-admin           everything, for system:masters
    admin, edit, view       roles for users of a namespace; each aggregates the roles with its label
    system:discovery        discovery and version
    system:basic-user       reviews of the user's own permissions
    system:public-info-viewer, system:monitoring

They refer only to kinds that every plane serves.
"""

from collections.abc import Mapping
from typing import Final

from kubekit.api.kinds.rbac import (
    GROUP,
    AggregationRule,
    ClusterRole,
    ClusterRoleBinding,
    PolicyRule,
    RoleRef,
    Subject,
)
from kubekit.api.meta import LabelSelector, ObjectMeta
from kubekit.plane.users import AUTHENTICATED, MASTERS

AUTO_UPDATE: Final = "rbac.authorization.kubernetes.io/autoupdate"
_LABELS: Final = {"kubernetes.io/bootstrapping": "rbac-defaults"}
_ANNOTATIONS: Final = {AUTO_UPDATE: "true"}
_UNAUTHENTICATED: Final = "system:unauthenticated"
_READ: Final = ("get", "list", "watch")
_WRITE: Final = ("create", "delete", "deletecollection", "patch", "update")
_ALL: Final = tuple(sorted(_READ + _WRITE))
_HEALTH: Final = ("/healthz", "/livez", "/readyz")
_VERSION: Final = ("/version", "/version/")


def _rule(verbs: tuple[str, ...], group: str, *resources: str) -> PolicyRule:
    return PolicyRule(verbs=verbs, api_groups=(group,), resources=resources)


def _paths(*paths: str) -> PolicyRule:
    return PolicyRule(verbs=("get",), non_resource_urls=tuple(sorted(paths)))


def _label(role: str) -> str:
    return f"{GROUP}/aggregate-to-{role}"


def _meta(name: str, labels: Mapping[str, str]) -> ObjectMeta:
    return ObjectMeta(name=name, labels={**_LABELS, **labels}, annotations=dict(_ANNOTATIONS))


def _role(name: str, *rules: PolicyRule, part_of: str = "") -> ClusterRole:
    labels = {_label(part_of): "true"} if part_of else {}
    return ClusterRole(metadata=_meta(name, labels), rules=rules)


def _aggregate(name: str, *, part_of: str = "") -> ClusterRole:
    """The role that aggregates all roles with the label of its name."""
    labels = {_label(part_of): "true"} if part_of else {}
    selector = LabelSelector(match_labels={_label(name): "true"})
    return ClusterRole(
        metadata=_meta(name, labels),
        aggregation_rule=AggregationRule(cluster_role_selectors=(selector,)),
    )


def _binding(role: str, *groups: str) -> ClusterRoleBinding:
    subjects = tuple(Subject(kind="Group", api_group=GROUP, name=group) for group in groups)
    ref = RoleRef(kind="ClusterRole", name=role)
    return ClusterRoleBinding(metadata=_meta(role, {}), role_ref=ref, subjects=subjects)


ROLES: Final = (
    _role(
        "cluster-admin",
        PolicyRule(verbs=("*",), api_groups=("*",), resources=("*",)),
        PolicyRule(verbs=("*",), non_resource_urls=("*",)),
    ),
    _role(
        "system:discovery",
        _paths("/api", "/api/*", "/apis", "/apis/*", "/openapi", "/openapi/*", *_HEALTH, *_VERSION),
    ),
    _role(
        "system:basic-user",
        _rule(
            ("create",),
            "authorization.k8s.io",
            "selfsubjectaccessreviews",
            "selfsubjectrulesreviews",
        ),
        _rule(("create",), "authentication.k8s.io", "selfsubjectreviews"),
    ),
    _role("system:public-info-viewer", _paths(*_HEALTH, *_VERSION)),
    _role(
        "system:monitoring",
        _paths("/metrics", "/metrics/slis", *_HEALTH, *(f"{path}/*" for path in _HEALTH)),
    ),
    _aggregate("admin"),
    _aggregate("edit", part_of="admin"),
    _aggregate("view", part_of="edit"),
    _role(
        "system:aggregate-to-admin",
        _rule(("create",), "authorization.k8s.io", "localsubjectaccessreviews"),
        _rule(_ALL, GROUP, "rolebindings", "roles"),
        part_of="admin",
    ),
    _role(
        "system:aggregate-to-edit",
        _rule(_READ, "", "secrets"),
        _rule(("impersonate",), "", "serviceaccounts"),
        _rule(_WRITE, "", "configmaps", "events", "secrets", "serviceaccounts"),
        _rule(("create",), "", "serviceaccounts/token"),
        _rule(_WRITE, "events.k8s.io", "events"),
        _rule(_ALL, "coordination.k8s.io", "leases"),
        part_of="edit",
    ),
    _role(
        "system:aggregate-to-view",
        _rule(
            _READ,
            "",
            "configmaps",
            "events",
            "namespaces",
            "namespaces/status",
            "serviceaccounts",
        ),
        _rule(_READ, "events.k8s.io", "events"),
        part_of="view",
    ),
)
BINDINGS: Final = (
    _binding("cluster-admin", MASTERS),
    _binding("system:discovery", AUTHENTICATED),
    _binding("system:basic-user", AUTHENTICATED),
    _binding("system:public-info-viewer", AUTHENTICATED, _UNAUTHENTICATED),
    _binding("system:monitoring", "system:monitoring"),
)

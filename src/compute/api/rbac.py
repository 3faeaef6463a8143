"""rbac.authorization.k8s.io/v1: who may do what. Rules only ever allow."""

from typing import ClassVar, Final, Literal

import msgspec

from compute.api.meta import LabelSelector, Object
from compute.api.resource import AGE, Column, Resource
from compute.api.wire import Wire, always

GROUP: Final = "rbac.authorization.k8s.io"
_API_VERSION: Final = "rbac.authorization.k8s.io/v1"


class PolicyRule(Wire, frozen=True, kw_only=True):
    """Verbs that are allowed on resources, or on paths that are no resources."""

    verbs: tuple[str, ...]
    api_groups: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    resource_names: tuple[str, ...] = ()
    non_resource_urls: tuple[str, ...] = msgspec.field(default=(), name="nonResourceURLs")


class AggregationRule(Wire, frozen=True, kw_only=True):
    """The roles whose rules a ClusterRole is the sum of."""

    cluster_role_selectors: tuple[LabelSelector, ...] = ()


class Subject(Wire, frozen=True, kw_only=True):
    """A user, a group or a service account."""

    kind: str
    api_group: str = ""
    name: str
    namespace: str = ""


class RoleRef(Wire, frozen=True, kw_only=True):
    """The role that a binding gives."""

    api_group: str = always(GROUP)
    kind: str
    name: str


class Role(Object, frozen=True, kw_only=True):
    """Rules that hold in one namespace."""

    RESOURCE: ClassVar[Resource] = Resource(
        group=GROUP, version="v1", kind="Role", plural="roles", columns=(AGE,)
    )

    api_version: Literal["rbac.authorization.k8s.io/v1"] = always(_API_VERSION)
    kind: Literal["Role"] = always("Role")
    rules: tuple[PolicyRule, ...] = ()


class ClusterRole(Object, frozen=True, kw_only=True):
    """Rules that hold wherever they are bound. With an aggregation rule, others fill them in."""

    RESOURCE: ClassVar[Resource] = Resource(
        group=GROUP,
        version="v1",
        kind="ClusterRole",
        plural="clusterroles",
        namespaced=False,
        columns=(AGE,),
    )

    api_version: Literal["rbac.authorization.k8s.io/v1"] = always(_API_VERSION)
    kind: Literal["ClusterRole"] = always("ClusterRole")
    rules: tuple[PolicyRule, ...] = ()
    aggregation_rule: AggregationRule | None = None


class RoleBinding(Object, frozen=True, kw_only=True):
    """Gives subjects a role in one namespace."""

    RESOURCE: ClassVar[Resource] = Resource(
        group=GROUP,
        version="v1",
        kind="RoleBinding",
        plural="rolebindings",
        columns=(Column("Role", ".roleRef.name"), AGE),
    )

    api_version: Literal["rbac.authorization.k8s.io/v1"] = always(_API_VERSION)
    kind: Literal["RoleBinding"] = always("RoleBinding")
    subjects: tuple[Subject, ...] = ()
    role_ref: RoleRef


class ClusterRoleBinding(Object, frozen=True, kw_only=True):
    """Gives subjects a ClusterRole everywhere."""

    RESOURCE: ClassVar[Resource] = Resource(
        group=GROUP,
        version="v1",
        kind="ClusterRoleBinding",
        plural="clusterrolebindings",
        namespaced=False,
        columns=(Column("Role", ".roleRef.name"), AGE),
    )

    api_version: Literal["rbac.authorization.k8s.io/v1"] = always(_API_VERSION)
    kind: Literal["ClusterRoleBinding"] = always("ClusterRoleBinding")
    subjects: tuple[Subject, ...] = ()
    role_ref: RoleRef

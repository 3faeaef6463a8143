"""rbac.authorization.k8s.io/v1: who may do what. Rules only ever allow."""

from typing import Annotated, ClassVar, Final, Literal

import msgspec

from kubekit.api.meta import LabelSelector, Object
from kubekit.api.resource import AGE, Column, Resource
from kubekit.api.wire import Rule, Wire, always

GROUP: Final = "rbac.authorization.k8s.io"
_API_VERSION: Final = "rbac.authorization.k8s.io/v1"


# The kinds' own rules report missing fields with more details than "required". Go writes null for an
# empty list.
_OPTIONAL: Final = Rule(required=False)
_NULLABLE_LIST: Final = Rule(list_type="atomic", nullable=True)
_Texts = Annotated[tuple[str, ...], _NULLABLE_LIST]
_Name = Annotated[str, _OPTIONAL]


class PolicyRule(Wire, frozen=True, kw_only=True):
    """Verbs that are allowed on resources, or on paths that are no resources."""

    verbs: Annotated[_Texts, _OPTIONAL]
    """What may be done; * stands for everything."""
    api_groups: _Texts = ()
    """The groups of the resources; the empty text is the core group, * stands for all."""
    resources: _Texts = ()
    """The resources, such as pods or pods/status; * stands for all, */status for all of that part."""
    resource_names: _Texts = ()
    """The names of the objects, if not all are meant."""
    non_resource_urls: _Texts = msgspec.field(default=(), name="nonResourceURLs")
    """Paths that are no resources; with * at the end, all that begin so."""


class AggregationRule(Wire, frozen=True, kw_only=True):
    """The roles whose rules a ClusterRole is the sum of."""

    cluster_role_selectors: Annotated[tuple[LabelSelector, ...], _NULLABLE_LIST] = ()
    """The labels of those roles; one of the selectors must fit."""


class Subject(Wire, frozen=True, kw_only=True):
    """A user, a group or a service account."""

    kind: _Name
    """User, Group or ServiceAccount."""
    api_group: str = ""
    """Empty for a ServiceAccount, rbac.authorization.k8s.io for the others."""
    name: _Name
    """The name of the subject."""
    namespace: str = ""
    """The namespace of a ServiceAccount."""


class RoleRef(Wire, frozen=True, kw_only=True):
    """The role that a binding gives."""

    api_group: str = always(GROUP)
    """The group of the role, which is always rbac.authorization.k8s.io."""
    kind: _Name
    """Role or ClusterRole."""
    name: _Name
    """The name of the role."""


_Rules = Annotated[tuple[PolicyRule, ...], _NULLABLE_LIST]
_Subjects = Annotated[tuple[Subject, ...], _NULLABLE_LIST]
_RoleRef = Annotated[RoleRef, _OPTIONAL]


class Role(Object, frozen=True, kw_only=True):
    """Rules that hold in one namespace."""

    RESOURCE: ClassVar[Resource] = Resource(
        group=GROUP, version="v1", kind="Role", plural="roles", columns=(AGE,)
    )

    api_version: Literal["rbac.authorization.k8s.io/v1"] = always(_API_VERSION)
    kind: Literal["Role"] = always("Role")
    rules: _Rules = ()
    """What the role allows."""


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
    rules: _Rules = ()
    """What the role allows. With an aggregation rule it is filled in, and not to be set."""
    aggregation_rule: Annotated[AggregationRule | None, Rule(nullable=True)] = None
    """Which other roles this one is the sum of."""


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
    subjects: _Subjects = ()
    """Who gets the role."""
    role_ref: _RoleRef
    """The role, which cannot be changed."""


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
    subjects: _Subjects = ()
    """Who gets the role."""
    role_ref: _RoleRef
    """The role, which cannot be changed."""

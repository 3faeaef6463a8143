"""Kubernetes' own kinds, as far as a client, a controller or an embedded plane needs them."""

from typing import Final

from kubekit.api import scheme
from kubekit.api.kinds.admission import MutatingWebhookConfiguration, ValidatingWebhookConfiguration
from kubekit.api.kinds.apiextensions import CustomResourceDefinition
from kubekit.api.kinds.authentication import SelfSubjectReview, TokenRequest, TokenReview
from kubekit.api.kinds.authorization import (
    LocalSubjectAccessReview,
    SelfSubjectAccessReview,
    SelfSubjectRulesReview,
    SubjectAccessReview,
)
from kubekit.api.kinds.coordination import Lease
from kubekit.api.kinds.core import ConfigMap, Namespace, Secret, ServiceAccount
from kubekit.api.kinds.events import CoreEvent, Event
from kubekit.api.kinds.network_policies import NetworkPolicy
from kubekit.api.kinds.nodes import ClusterNode
from kubekit.api.kinds.pods import Pod, Service
from kubekit.api.kinds.rbac import ClusterRole, ClusterRoleBinding, Role, RoleBinding
from kubekit.api.meta import Object

KUBERNETES_KINDS: Final[tuple[type[Object], ...]] = (
    Namespace,
    ConfigMap,
    Secret,
    ServiceAccount,
    Pod,
    Service,
    ClusterNode,
    NetworkPolicy,
    CoreEvent,
    Event,
    Lease,
    Role,
    ClusterRole,
    RoleBinding,
    ClusterRoleBinding,
    SubjectAccessReview,
    LocalSubjectAccessReview,
    SelfSubjectAccessReview,
    SelfSubjectRulesReview,
    TokenReview,
    TokenRequest,
    SelfSubjectReview,
    CustomResourceDefinition,
    MutatingWebhookConfiguration,
    ValidatingWebhookConfiguration,
)

scheme.register(*KUBERNETES_KINDS)

"""From policies to bindings: each object that a policy claims gets a ResourceBinding beside it.

The object owns the binding, so both are deleted together. Deleting a policy changes nothing.
"""

from typing import Any, Generic

from compute.api import names
from compute.api.karmada import PropagationPolicy
from compute.api.karmada_work import (
    BindingSuspension,
    ResourceBinding,
    ResourceBindingSpec,
    TemplateRef,
)
from compute.decide.federation import suspension
from compute.federation import claims, karmada_keys
from compute.federation.planes import EnginePlanes
from kubekit.api.meta import ObjectMeta, with_metadata, with_spec
from kubekit.client.client import K
from kubekit.environment import ExecutionEnvironment
from kubekit.runtime import live
from kubekit.runtime.clusters import Cluster, Clusters
from kubekit.runtime.controller import Controller
from kubekit.runtime.controller_factory import ControllerFactory
from kubekit.runtime.requests import DONE, ClusterName, Request, Result
from kubekit.runtime.sources import mapped, own


def controller(kind: type[K], planes: EnginePlanes, factory: ControllerFactory) -> Controller:
    """The controller that binds the objects of one kind."""
    resource = kind.RESOURCE

    def from_binding(cluster: ClusterName, binding: ResourceBinding) -> list[Request]:
        bound = binding.spec.resource
        ours = (bound.api_version, bound.kind) == (resource.api_version, resource.kind)
        return [Request(cluster, bound.namespace, bound.name)] if ours else []

    def from_policy(cluster: ClusterName, policy: PropagationPolicy) -> list[Request]:
        templates = planes.hub.get(cluster).informers.of(kind).cache.list(policy.metadata.namespace)
        matching = (each.metadata for each in templates if claims.concerns(policy, each))
        return [Request(cluster, meta.namespace, meta.name) for meta in matching]

    sources = [
        own(kind, planes.hub),
        mapped(PropagationPolicy, planes.hub, from_policy),
        mapped(ResourceBinding, planes.hub, from_binding),
    ]
    binder = Binder(kind, planes.hub, factory.environment)
    return factory.controller(f"engine-{resource.singular}-binder", binder, planes.hub, sources)


class Binder(Generic[K]):
    """Claims one object for its policy, and keeps its binding up to date with both."""

    def __init__(self, kind: type[K], hub: Clusters, environment: ExecutionEnvironment) -> None:
        self._kind = kind
        self._hub = hub
        self._environment = environment

    async def reconcile(self, request: Request) -> Result:
        hub = self._hub.get(request.cluster)
        template = hub.informers.of(self._kind).cache.get(request.namespace, request.name)
        if template is None or template.deleting:
            return DONE  # its binding is deleted with it
        policies = hub.informers.of(PropagationPolicy).cache.list(request.namespace)
        policy = claims.claimant(template, policies)
        if policy is not None:
            policy = await self._with_permanent_id(hub, policy)
            template = await hub.client.patch(template, claims.claimed(template, policy))
            await self._bind(hub, template, policy)
        return DONE

    async def _with_permanent_id(
        self, hub: Cluster, policy: PropagationPolicy
    ) -> PropagationPolicy:
        """The policy with a permanent id, which stays the same if it is restored from a backup."""
        meta = policy.metadata
        if karmada_keys.POLICY_ID in meta.labels:
            return policy
        labels = meta.labels | {karmada_keys.POLICY_ID: self._environment.uid()}
        return await hub.client.patch(policy, with_metadata(policy, labels=labels))

    async def _bind(self, hub: Cluster, template: K, policy: PropagationPolicy) -> None:
        name = names.resource_binding(template.metadata.name, template.kind)
        namespace = template.metadata.namespace
        present = hub.informers.of(ResourceBinding).cache.get(namespace, name)
        if present is not None:
            of_template = present.spec.resource.uid == template.metadata.uid
            if of_template and not present.deleting:  # any other binding is about to be deleted
                await hub.client.patch(present, _updated(present, policy))
            return
        if await live.current(hub.client, template) is not None:
            await hub.client.create(_binding(template, name, policy, self._environment.uid()))


def _binding(template: K, name: str, policy: PropagationPolicy, binding_id: str) -> ResourceBinding:
    meta = template.metadata
    metadata = ObjectMeta(
        name=name,
        namespace=meta.namespace,
        labels=claims.claim_labels(policy) | {karmada_keys.BINDING_ID: binding_id},
        annotations=claims.claim_annotations(policy),
        finalizers=(karmada_keys.BINDING,),
        owner_references=(template.reference(controller=True, block_owner_deletion=True),),
    )
    resource = TemplateRef(
        api_version=template.api_version,
        kind=template.kind,
        namespace=meta.namespace,
        name=meta.name,
        uid=meta.uid,
    )
    spec = ResourceBindingSpec(resource=resource, **_spec_fields(policy, None))
    return ResourceBinding(metadata=metadata, spec=spec)


def _updated(present: ResourceBinding, policy: PropagationPolicy) -> ResourceBinding:
    """The binding with the fields of its policy. The clusters stay: the scheduler chooses them."""
    meta = present.metadata
    updated = with_metadata(
        present,
        labels=meta.labels | claims.claim_labels(policy),
        annotations=meta.annotations | claims.claim_annotations(policy),
    )
    return with_spec(updated, **_spec_fields(policy, present.spec.suspension))


def _spec_fields(policy: PropagationPolicy, present: BindingSuspension | None) -> dict[str, Any]:
    spec = policy.spec
    return {
        "propagate_deps": spec.propagate_deps,
        "placement": spec.placement,
        "scheduler_name": spec.scheduler_name,
        "conflict_resolution": spec.conflict_resolution,
        "suspension": suspension.of_binding(spec.suspension, present),
        "preserve_resources_on_deletion": spec.preserve_resources_on_deletion,
    }

"""Hub objects and their originals, for tests about federation."""

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import msgspec

from compute.api import labels, names
from compute.api.compute import Instance, WorkloadDeployment
from compute.decide.deployment.template import controller_labels
from compute.decide.federation import ProjectNamespace, Refused, hub_deployment
from compute.decide.writes import Create, Delete, Update, Write
from kubekit.api.kinds.core import Namespace
from kubekit.api.meta import Condition, Object, ObjectMeta, with_metadata
from tests.support.compute.builders import deployment, instance

K = TypeVar("K", bound=Object)

PROJECT = names.cluster("shop")
HUB_NAMESPACE = "ns-1"
CELL = "cell-dfw"
IDENTITY = ProjectNamespace(PROJECT, "default")


def with_meta(of: K, **changes: Any) -> K:
    return with_metadata(of, **changes)


def with_status(
    of: WorkloadDeployment, *conditions: Condition, **counts: int
) -> WorkloadDeployment:
    """A deployment with this status, of its current generation by default."""
    known = {"observed_generation": of.metadata.generation} | counts
    status = msgspec.structs.replace(of.status, conditions=conditions, **known)
    return msgspec.structs.replace(of, status=status)


def namespace(name: str = "default", **meta: Any) -> Namespace:
    return Namespace(metadata=ObjectMeta(name=name, uid="1", **meta))


def original(name: str = "web-home-dfw", city: str = "DFW", **meta: Any) -> WorkloadDeployment:
    """A deployment in the project."""
    of = deployment(name=name, namespace="default", **({"uid": f"uid-{name}"} | meta))
    spec = msgspec.structs.replace(of.spec, city_code=city)
    return msgspec.structs.replace(of, spec=spec)


def on_hub(of: WorkloadDeployment | None = None, **meta: Any) -> WorkloadDeployment:
    """The hub's copy of a deployment, as the server stores it."""
    made = hub_deployment(of or original(), PROJECT, HUB_NAMESPACE)
    assert not isinstance(made, Refused)
    return with_meta(made, **({"uid": f"hub-{made.metadata.name}", "generation": 1} | meta))


def cell_instance(ordinal: int = 0, name: str = "web-home-dfw", **changes: Any) -> Instance:
    """An Instance in the cell, with all the labels its controller gives it."""
    of = deployment(name=name, uid="cell-uid")
    own_labels = {"app": "greeter"} | controller_labels(of, ordinal)
    known = {"name": names.instance(name, ordinal), "labels": own_labels}
    return instance(ordinal, **(known | changes))


def applied(stored: Sequence[K], writes: Iterable[Write[K]]) -> list[K]:
    """What the server holds after the writes."""
    held = {(o.metadata.namespace, o.metadata.name): o for o in stored}
    for write in writes:
        match write:
            case Create(desired):
                assert _key(desired) not in held
                held[_key(desired)] = with_meta(desired, uid=f"made-{desired.metadata.name}")
            case Update(existing, desired):
                assert held[_key(existing)] == existing
                held[_key(existing)] = desired
            case Delete(existing):
                assert held.pop(_key(existing)) == existing
    return list(held.values())


def labelled(of: K, **changes: str | None) -> K:
    """The object with our labels changed, or removed with None; keys as in `labels`."""
    keys = {getattr(labels, key): value for key, value in changes.items()}
    changed = {k: v for k, v in (of.metadata.labels | keys).items() if v is not None}
    return with_meta(of, labels=changed)


def _key(of: Object) -> tuple[str, str]:
    return of.metadata.namespace, of.metadata.name

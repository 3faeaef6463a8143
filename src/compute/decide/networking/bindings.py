"""Which NetworkBinding serves which interface of a deployment.

The binding of interface ``i`` is named after it. While Instances of an older template still run on
another network, or at another Location, their binding keeps the name: the new binding then takes the
next free name, and the old one is removed when no Instance runs on it any more.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count

from compute.api import names
from compute.api.compute import Instance, WorkloadDeployment
from compute.api.instance_spec import InstanceSpec, LocationRef
from compute.api.networking import NetworkBinding, NetworkBindingSpec
from kubekit.api.meta import ObjectMeta

Needs = tuple[NetworkBindingSpec, ...]  # one for each interface


@dataclass(frozen=True, slots=True)
class Links:
    """The bindings of a deployment's interfaces.

    ``present`` exist, and ``new`` are to be created. ``obstructed`` are to be created once another
    binding of that name is gone, which is deleting or not ours. ``unused`` exist and are not needed.
    """

    present: tuple[NetworkBinding, ...]
    new: tuple[NetworkBinding, ...]
    obstructed: tuple[NetworkBinding, ...]
    unused: tuple[NetworkBinding, ...]


def links(
    deployment: WorkloadDeployment,
    instances: Iterable[Instance],
    location: LocationRef,
    bindings: Sequence[NetworkBinding],
) -> Links:
    """The bindings of the template's interfaces, among those named like the deployment's."""
    own = {b.metadata.name: b for b in bindings if _serves(b, deployment)}
    needs = _needs(deployment.spec.template.spec, location)
    assigned = _assigned(deployment, needs, own)
    missing = {number: need for number, need in enumerate(needs) if number not in assigned}
    taken = {b.metadata.name: b for b in bindings}
    required = list(_required(deployment, missing, taken, len(needs)))
    return Links(
        present=tuple(assigned[number] for number in sorted(assigned)),
        new=tuple(b for b in required if b.metadata.name not in taken),
        obstructed=tuple(b for b in required if b.metadata.name in taken),
        unused=_unused(deployment, instances, location, own),
    )


def binding_of(
    instance: Instance, interface: int, bindings: Iterable[NetworkBinding]
) -> NetworkBinding | None:
    """The binding that an interface of an Instance runs on, among those of its deployment.

    It is matched by its network: while a template with other networks rolls out, the name for the
    interface may be that of a binding which Instances of the old template run on.
    """
    network, location = instance.spec.network_interfaces[interface].network, instance.spec.location
    fitting = (
        binding
        for binding in bindings
        if binding.spec.network == network
        and (location is None or binding.spec.location.name == location.name)
    )
    return min(fitting, key=lambda b: (b.deleting, b.metadata.name), default=None)


def deployment_of(binding: NetworkBinding) -> str:
    """The deployment whose binding this is, by its name; empty when it is not named after one."""
    parts = names.network_binding_parts(binding.metadata.name)
    return parts[0] if parts else ""


def _serves(binding: NetworkBinding, deployment: WorkloadDeployment) -> bool:
    owners = binding.metadata.owner_references
    controlled = any(o.controller and o.uid == deployment.metadata.uid for o in owners)
    return controlled and not binding.deleting


def _needs(spec: InstanceSpec, location: LocationRef) -> Needs:
    return tuple(
        NetworkBindingSpec(location=location, network=interface.network)
        for interface in spec.network_interfaces
    )


def _assigned(
    deployment: WorkloadDeployment, needs: Needs, own: Mapping[str, NetworkBinding]
) -> dict[int, NetworkBinding]:
    """A binding of its own for each interface that can have one: that of its name, or any other."""
    free = dict(sorted(own.items()))
    assigned: dict[int, NetworkBinding] = {}
    for number, need in enumerate(needs):
        named = free.get(names.network_binding(deployment.metadata.name, number))
        if named is not None and _is_same(named.spec, need):
            assigned[number] = free.pop(named.metadata.name)
    for number, need in enumerate(needs):
        fitting = next((b for b in free.values() if _is_same(b.spec, need)), None)
        if number not in assigned and fitting is not None:
            assigned[number] = free.pop(fitting.metadata.name)
    return assigned


def _is_same(one: NetworkBindingSpec, other: NetworkBindingSpec) -> bool:
    return one.network == other.network and one.location.name == other.location.name


def _required(
    deployment: WorkloadDeployment,
    missing: Mapping[int, NetworkBindingSpec],
    taken: Mapping[str, NetworkBinding],
    interfaces: int,
) -> Iterator[NetworkBinding]:
    """The bindings that are missing. Only a name that is ours, and in use, is skipped."""
    owner = deployment.metadata.name
    spare = (
        name
        for name in (names.network_binding(owner, number) for number in count(interfaces))
        if name not in taken
    )
    for number, need in missing.items():
        name = names.network_binding(owner, number)
        in_use = name in taken and _serves(taken[name], deployment)
        yield NetworkBinding(
            metadata=ObjectMeta(
                name=next(spare) if in_use else name,
                namespace=deployment.metadata.namespace,
                owner_references=(
                    deployment.reference(controller=True, block_owner_deletion=True),
                ),
            ),
            spec=need,
        )


def _unused(
    deployment: WorkloadDeployment,
    instances: Iterable[Instance],
    location: LocationRef,
    own: Mapping[str, NetworkBinding],
) -> tuple[NetworkBinding, ...]:
    """Bindings that neither the template nor any present Instance needs."""
    left = dict(own)
    for needs in _every_need(deployment, instances, location):
        for binding in _assigned(deployment, needs, own).values():
            left.pop(binding.metadata.name, None)
        if not left:  # usually after the first: not all of a thousand Instances are read
            break
    return tuple(left.values())


def _every_need(
    deployment: WorkloadDeployment, instances: Iterable[Instance], location: LocationRef
) -> Iterator[Needs]:
    """What the template needs, then what Instances of other templates do; nothing twice."""
    first = _needs(deployment.spec.template.spec, location)
    seen = {first: None}
    yield first
    for instance in instances:
        needs = _needs(instance.spec, instance.spec.location or location)
        if needs not in seen:
            seen[needs] = None
            yield needs

"""Valid excuses of an Instance without a working machine at the end, checked against the facts."""

from collections.abc import Iterator
from fnmatch import fnmatchcase

from compute.api import labels, names
from compute.api.compute import Instance
from compute.api.conditions import ConditionType
from compute.api.networking import Network
from compute.api.quota import ResourceClaim, ResourceGrant
from compute.api.reasons import Reason
from compute.app.planes import CORE, HUB, PlaneRef
from compute.decide import budget
from compute.decide.conditions import find
from compute.decide.federation import identity
from compute.providers import settings
from compute.providers.settings import MachineSettings
from kubekit.api.kinds.core import ConfigMap, Namespace
from tests.sim.whole.budget_laws import granted
from tests.sim.whole.commits import Key
from tests.sim.whole.plane_readings import Reading

_QUOTA = (Reason.QUOTA_EXCEEDED, Reason.QUOTA_NO_BUDGET)


def excuse(reading: Reading, cell: PlaneRef, instance: Instance) -> str:
    """The reason why an Instance cannot be Ready; empty if it has no valid one."""
    ready = find(instance.status.conditions, ConditionType.READY)
    said = ready.reason if ready else ""
    if said in _image_faults(reading, cell, instance):
        return said
    if _lacks_network(reading, instance):
        return said
    return _lack_of_quota(reading, instance)


def left(reading: Reading, project: PlaneRef) -> dict[str, int]:
    """What is left of a project's budget."""
    used: dict[str, int] = {}
    for claim in reading.all(project, ResourceClaim).values():
        for kind, amount in granted(claim).items():
            used[kind] = used.get(kind, 0) + amount
    grants = reading.all(CORE, ResourceGrant).values()
    return budget.left(budget.limits(grants, project.name), used)


def place(reading: Reading, instance: Instance) -> tuple[PlaneRef, Key] | None:
    """The project of an Instance of a cell, and where its claim is there; None if it has no plane."""
    hub_namespace = reading.find(HUB, Namespace, ("", instance.metadata.namespace))
    origin = identity(hub_namespace) if hub_namespace else None
    if origin is None:
        return None
    project = PlaneRef("project", names.cluster_key(origin.project))
    key = origin.namespace, names.claim(instance.metadata.name)
    return (project, key) if project in reading.planes("project") else None


def _image_faults(reading: Reading, cell: PlaneRef, instance: Instance) -> Iterator[str]:
    """What the provider must say of the images of an Instance."""
    written = reading.find(cell, ConfigMap, (settings.NAMESPACE, settings.NAME))
    parsed = settings.parse(written.data if written else {})
    ruled = parsed if isinstance(parsed, MachineSettings) else MachineSettings()
    sandbox = instance.spec.runtime.sandbox
    for container in sandbox.containers if sandbox else ():
        if any(fnmatchcase(container.image, each) for each in ruled.unavailable_images):
            yield Reason.IMAGE_UNAVAILABLE
        if any(fnmatchcase(container.image, each) for each in ruled.misconfigured_images):
            yield Reason.CONFIGURATION_ERROR
        if any(fnmatchcase(container.image, each) for each in ruled.crashing_images):
            yield Reason.INSTANCE_CRASHING


def _lacks_network(reading: Reading, instance: Instance) -> bool:
    found = place(reading, instance)
    if found is None:
        return False
    project, (namespace, _) = found
    wanted = (interface.network for interface in instance.spec.network_interfaces)
    networks = reading.all(project, Network)
    return any((each.namespace or namespace, each.name) not in networks for each in wanted)


def _lack_of_quota(reading: Reading, instance: Instance) -> str:
    """That the budget is used up, as the Instance says and the books show."""
    said = find(instance.status.conditions, ConditionType.QUOTA_GRANTED)
    found = place(reading, instance)
    if said is None or said.status == "True" or said.reason not in _QUOTA or found is None:
        return ""
    project, key = found
    claim = reading.find(project, ResourceClaim, key)
    if claim is None or granted(claim):
        return ""
    fits = budget.fits(budget.need_of(claim.spec.requests), left(reading, project))
    return "" if fits else said.reason


def source(claim: ResourceClaim) -> tuple[PlaneRef, Key] | None:
    """The Instance that a claim is for: its cell, and where it is there."""
    claim_labels = claim.metadata.labels
    cell, hub_namespace = (
        claim_labels.get(labels.SOURCE_CLUSTER),
        claim_labels.get(labels.INSTANCE_NAMESPACE),
    )
    name = names.claim_instance(claim.metadata.name)
    return (
        (PlaneRef("cell", cell), (hub_namespace, name)) if cell and hub_namespace and name else None
    )

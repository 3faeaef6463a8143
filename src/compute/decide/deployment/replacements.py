"""Single Instances that a user asked to replace.

The request is a stamp for each name, in an annotation of the Workload that its deployments inherit.
An Instance records the stamp of its slot when it is created. It is replaced while the two differ:
they are compared as texts, and no clock is read. So a request is fulfilled exactly once, whichever
cell the deployment is in and however often a controller restarts. A slot without a stamp asks for
nothing.
"""

from collections.abc import Mapping

from compute.api import annotations, names
from compute.api.compute import Instance, WorkloadDeployment
from compute.decide import json_annotations


def stamps(deployment: WorkloadDeployment) -> dict[int, str]:
    """The stamp of each slot that has one."""
    meta = deployment.metadata
    if annotations.REPLACED_INSTANCES not in meta.annotations:
        return {}
    wanted = json_annotations.texts(meta.annotations, annotations.REPLACED_INSTANCES)
    return {ordinal: wanted[name] for name in wanted for ordinal in _slot(meta.name, name)}


def is_due(instance: Instance, stamp: str | None) -> bool:
    """Whether the Instance in a slot with this stamp is to be replaced."""
    return stamp is not None and stamp != instance.metadata.annotations.get(annotations.REPLACED_AT)


def stamped(known: Mapping[str, str], stamp: str | None) -> dict[str, str]:
    """The annotations of a new Instance in a slot with this stamp."""
    return dict(known) if stamp is None else {**known, annotations.REPLACED_AT: stamp}


def recorded(instance: Instance) -> dict[str, str]:
    """The stamp of an Instance as an annotation, for its copies on other planes."""
    stamp = instance.metadata.annotations.get(annotations.REPLACED_AT)
    return {} if stamp is None else {annotations.REPLACED_AT: stamp}


def copied(existing: Instance, desired: Instance) -> dict[str, str]:
    """The annotations of a copy: the stamp of the desired copy, and what others wrote."""
    known = existing.metadata.annotations
    others = {key: value for key, value in known.items() if key != annotations.REPLACED_AT}
    return others | recorded(desired)


def _slot(deployment_name: str, name: str) -> tuple[int, ...]:
    parts = names.instance_parts(name)
    return (parts[1],) if parts and parts[0] == deployment_name else ()

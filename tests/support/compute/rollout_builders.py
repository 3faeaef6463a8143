"""Instances of a deployment, in any state that a rollout may meet."""

from typing import Any

import msgspec

from compute.api.compute import Instance, WorkloadDeployment
from compute.api.instance_spec import InstanceController
from compute.decide.deployment.template import build_instance
from kubekit.api.meta import Condition, with_metadata, with_status
from tests.support.compute.builders import NOW, condition

READY = (condition("Ready"),)
UNREADY = (condition("Ready", "False", "InstanceCrashing"),)


def member(
    owner: WorkloadDeployment,
    ordinal: int,
    *,
    ready: bool = True,
    stale: bool = False,
    deleting: bool = False,
    gates: tuple[str, ...] = (),
    conditions: tuple[Condition, ...] | None = None,
    **meta: Any,
) -> Instance:
    """The Instance in a slot of the deployment. By default it is Ready and has the current template."""
    if conditions is None:
        conditions = READY if ready else UNREADY
    made = build_instance(owner, ordinal, gates)
    known = {"uid": f"uid-{ordinal}", "deletion_timestamp": NOW if deleting else None}
    spec = made.spec
    if stale:
        spec = msgspec.structs.replace(spec, controller=InstanceController(template_hash="stale"))
    made = with_metadata(msgspec.structs.replace(made, spec=spec), **(known | meta))
    return with_status(made, conditions=conditions)


def members(owner: WorkloadDeployment, *ordinals: int, **state: Any) -> list[Instance]:
    return [member(owner, ordinal, **state) for ordinal in ordinals]

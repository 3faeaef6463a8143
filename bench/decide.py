"""The cost of one reconcile pass over a deployment: decode its Instances, plan, compute the status.

    make bench                                 a table
    .venv/bin/python bench/decide.py --json    the same numbers as JSON

Measured is the CPU time of this thread, the best of several rounds, so that other load matters little.
Decoding is compared with the standard library's ``json`` on the same bytes in the same run. The ratio
can be compared between machines, the nanoseconds cannot. The exponent is the slope of cost over size on
logarithmic axes: 1 is linear, 2 means that ten times the Instances cost a hundred times as much.
"""

import gc
import json
import math
import sys
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any, Final

import msgspec

from compute.api import names
from compute.api.compute import (
    Instance,
    InstanceControllerStatus,
    InstanceStatus,
    ScaleSettings,
    WorkloadDeployment,
    WorkloadDeploymentSpec,
    WorkloadRef,
)
from compute.api.instance_spec import (
    Container,
    InstanceResources,
    InstanceSpec,
    InstanceTemplate,
    NamedPort,
    NetworkInterface,
    NetworkRef,
    Runtime,
    Sandbox,
)
from compute.decide.deployment import rollout, rollup
from compute.decide.deployment.template import build_instance, template_hash
from kubekit.api.kinds.value_sources import EnvVar
from kubekit.api.meta import Condition, ObjectMeta, TemplateMeta

SIZES: Final = (10, 100, 1000)
NOW: Final = datetime(2026, 6, 1, tzinfo=UTC)
ROUNDS: Final = 7
INSTANCES_PER_ROUND: Final = 5000  # so that a round lasts long enough for the clock
NETWORK: Final = rollup.NetworkVerdict(ready=True)


def main() -> int:
    """Measure every size and print the results."""
    results = [_measure(size) for size in SIZES]
    phases = ("decode", "plan", "status", "total")
    exponents = {
        p: _exponent([r["instances"] for r in results], [r[p] for r in results]) for p in phases
    }
    if "--json" in sys.argv[1:]:
        print(json.dumps({"results": results, "exponents": exponents}, indent=2))
        return 0
    print("ns per Instance          decode   json.loads   ratio     plan   status    total")
    for r in results:
        each = {p: r[p] / r["instances"] for p in (*phases, "json")}
        print(
            f"{r['instances']:>6} Instances     {each['decode']:>10.0f} {each['json']:>12.0f}"
            f" {r['decode'] / r['json']:>7.2f} {each['plan']:>8.0f} {each['status']:>8.0f}"
            f" {each['total']:>8.0f}"
        )
    slopes = "   ".join(f"{phase} {value:.2f}" for phase, value in exponents.items())
    print(f"growth exponent      {slopes}")
    return 0


def _measure(size: int) -> dict[str, Any]:
    deployment = _deployment(size)
    wire = [msgspec.json.encode(_instance(deployment, ordinal)) for ordinal in range(size)]
    decoder = msgspec.json.Decoder(Instance)
    instances = [decoder.decode(each) for each in wire]
    repeats = max(1, INSTANCES_PER_ROUND // size)
    costs: dict[str, float] = {
        "decode": _best(lambda: [decoder.decode(each) for each in wire], repeats),
        "json": _best(lambda: [json.loads(each) for each in wire], repeats),
        "plan": _best(lambda: rollout.plan(deployment, instances, NOW), repeats),
        "status": _best(
            lambda: rollup.deployment_status(deployment, instances, NETWORK, NOW), repeats
        ),
    }
    total = costs["decode"] + costs["plan"] + costs["status"]
    return {"instances": size, "bytes": len(wire[0]), **costs, "total": total}


def _best(work: Callable[[], object], repeats: int) -> float:
    """Nanoseconds of CPU time for one call, in the best of the rounds."""
    gc.collect()
    rounds = []
    for _ in range(ROUNDS):
        before = time.thread_time_ns()
        for _ in range(repeats):
            work()
        rounds.append((time.thread_time_ns() - before) / repeats)
    return min(rounds)


def _exponent(sizes: Sequence[int], costs: Sequence[float]) -> float:
    """The slope of a line through the points on logarithmic axes, by least squares."""
    xs, ys = [math.log(s) for s in sizes], [math.log(c) for c in costs]
    x, y = sum(xs) / len(xs), sum(ys) / len(ys)
    rise = sum((a - x) * (b - y) for a, b in zip(xs, ys, strict=True))
    return rise / sum((a - x) ** 2 for a in xs)


def _deployment(replicas: int) -> WorkloadDeployment:
    container = Container(
        name="cache",
        image="registry.example.test/edge/cache:2026.06",
        env=tuple(EnvVar(name=f"SETTING_{n}", value="x" * 20) for n in range(5)),
        ports=(NamedPort(name="http", port=80), NamedPort(name="metrics", port=9102)),
    )
    template = InstanceTemplate(
        metadata=TemplateMeta(labels={"app": "edge-cache"}),
        spec=InstanceSpec(
            runtime=Runtime(
                resources=InstanceResources(instance_type="datumcloud/d1-standard-2"),
                sandbox=Sandbox(containers=(container,)),
            ),
            network_interfaces=(NetworkInterface(network=NetworkRef(name="default")),),
        ),
    )
    return WorkloadDeployment(
        metadata=ObjectMeta(
            name=names.deployment("edge-cache", "americas", "DFW"),
            namespace="ns-3b0f6f0a-6c4e-4f43-9d1c-5f1f6b0f8a11",
            uid="5f0c1d0e-8b7a-4c57-9a53-0f3e2f0a7d21",
            generation=3,
        ),
        spec=WorkloadDeploymentSpec(
            workload_ref=WorkloadRef(name="edge-cache", uid="9a2b8a0e-2f0a-4b4b-8a47-6a1de0f1f0aa"),
            placement_name="americas",
            city_code="DFW",
            template=template,
            scale_settings=ScaleSettings(min_replicas=replicas),
        ),
    )


def _instance(deployment: WorkloadDeployment, ordinal: int) -> Instance:
    """An Instance in the middle of a rolling update: the upper half of the ordinals is up to date."""
    built = build_instance(deployment, ordinal, ())
    current = ordinal >= deployment.spec.scale_settings.min_replicas // 2
    observed = template_hash(deployment.spec.template) if current else "0" * 16
    meta = msgspec.structs.replace(
        built.metadata,
        uid=f"9a2b8a0e-{ordinal:012}",
        resource_version="812",
        creation_timestamp=NOW,
    )
    conditions = tuple(
        Condition(
            type=kind,
            status="True",
            reason="Available",
            message="The Instance is running",
            last_transition_time=NOW,
        )
        for kind in ("Programmed", "Available", "Ready", "QuotaGranted")
    )
    status = InstanceStatus(
        conditions=conditions,
        controller=InstanceControllerStatus(observed_template_hash=observed),
    )
    assert built.spec.controller is not None
    controller = msgspec.structs.replace(built.spec.controller, template_hash=observed)
    spec = msgspec.structs.replace(built.spec, controller=controller)
    return msgspec.structs.replace(built, metadata=meta, spec=spec, status=status)


if __name__ == "__main__":
    sys.exit(main())

"""Whether the annotations of single cities and Instances have an effect, and restarts were kept."""

from collections.abc import Iterator, Mapping
from typing import Final

from compute.api import annotations
from compute.api.compute import Workload
from compute.decide import joins, json_annotations
from compute.decide.deployment.template import restart_stamp
from compute.decide.doctor.checks import Check, Finding, Fix
from compute.decide.doctor.facts import Unread, WorkloadFacts
from compute.decide.overrides import CityTemplates, is_paused, pruned
from compute.decide.validation.overrides import check_overrides
from compute.decide.workload import history
from kubekit.api.fields import Path

_KEYS: Final = (
    annotations.PAUSED_CITIES,
    annotations.RESTARTED_CITIES,
    annotations.CITY_TEMPLATES,
    annotations.REPLACED_INSTANCES,
)
_METADATA: Final = Path("metadata")


def override_checks(workload: Workload) -> Iterator[Finding]:
    """Whether every annotation for a city or an Instance can be read and still means something."""
    name, present = workload.metadata.name, workload.metadata.annotations
    errors = tuple(check_overrides(_METADATA, workload.metadata, None))
    for error in errors:
        yield Check.OVERRIDES.failed(
            f"{error}: it has no effect", f"compute explain workload/{name}"
        )
    kept = pruned(workload).metadata.annotations
    stale = [key for key in _KEYS if _entries(present, key) != _entries(kept, key)]
    if errors:
        return
    if stale:
        listed = ", ".join(key.rpartition("/")[2] for key in stale)
        detail = f"entries without an effect in the annotations {listed}"
        fix = Fix.PRUNE_OVERRIDES
        yield Check.OVERRIDES.warning(detail, f"compute doctor {name} --fix", fix)
        return
    used = [key.rpartition("/")[2] for key in _KEYS if key in present]
    detail = f"all of them hold: {', '.join(used)}" if used else "none are set"
    yield Check.OVERRIDES.passed(detail)


def _entries(known: Mapping[str, str], key: str) -> set[str]:
    """The cities or Instances that an annotation names."""
    if key == annotations.PAUSED_CITIES:
        return set(filter(None, map(str.strip, known.get(key, "").split(","))))
    return set(json_annotations.entries(known, key))


def restarts_check(facts: WorkloadFacts) -> Finding:
    """Whether the restarts that were asked for have reached the cities, and none was dropped."""
    look = facts.snapshot
    workload, name = look.workload, look.workload.metadata.name
    templates = CityTemplates(workload)
    expected = joins.expected(workload)
    lost = [
        deployment.spec.city_code
        for deployment in look.deployments
        if joins.placement_city(deployment) in expected
        and not is_paused(workload, deployment.spec.city_code)
        and restart_stamp(deployment.spec.template)
        != restart_stamp(templates.of(deployment.spec.city_code))
    ]
    if lost and workload.status.observed_generation == workload.metadata.generation:
        cities = ", ".join(sorted(dict.fromkeys(lost)))
        detail = (
            f"the restart stamp is lost in {cities}: another client changed the deployment there"
        )
        return Check.RESTARTS.failed(detail, f"compute rollout restart {name}")
    dropped = _dropped(facts)
    if dropped:
        return Check.RESTARTS.warning(dropped, f"compute rollout history {name}")
    return Check.RESTARTS.passed("restarts have reached every city")


def _dropped(facts: WorkloadFacts) -> str:
    """That the last change dropped a restart stamp, which replaces every Instance once more."""
    if isinstance(facts.history, Unread):
        return ""
    known = history.revisions(facts.history)
    if len(known) < 2 or restart_stamp(facts.snapshot.workload.spec.template):  # noqa: PLR2004 -- the last two
        return ""
    before = history.spec_of(known[-2])
    if before is None or not restart_stamp(before.template):
        return ""
    by = f", by {known[-1].actor}" if known[-1].actor else ""
    return (
        f"revision {known[-1].rev} dropped the restart stamp of revision {known[-2].rev}{by}, "
        "which replaces every instance"
    )

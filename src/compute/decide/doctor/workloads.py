"""Whether a Workload is well: its records, its overrides, and what runs in each city."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from compute.api import names
from compute.api.compute import Workload
from compute.decide import joins
from compute.decide.doctor.checks import Check, Finding, seconds
from compute.decide.doctor.facts import Unread, WorkloadFacts
from compute.decide.doctor.override_checks import override_checks, restarts_check
from compute.decide.doctor.running import running_checks
from compute.decide.doctor.writers import last_spec_write, writers_check
from compute.decide.explain.explanations import explain_workload
from compute.decide.workload import history

# What takes longer is not on its way any more.
_LATE: Final = timedelta(seconds=60)
_DELETION: Final = timedelta(minutes=5)


def workload_checks(facts: WorkloadFacts) -> Iterator[Finding]:
    """The checks of one Workload. One that is being deleted is checked for that alone."""
    workload = facts.snapshot.workload
    name = workload.metadata.name
    checks: Sequence[Callable[[WorkloadFacts], Iterable[Finding]]] = (
        (_deletion,) if workload.deleting else (_records, _of_overrides, running_checks)
    )
    for check in checks:
        yield from (replace(result, subject=name) for result in check(facts))


def _records(facts: WorkloadFacts) -> Iterator[Finding]:
    yield name_check(facts.snapshot.workload)
    yield controller_check(facts.snapshot.workload, facts.snapshot.at)
    yield history_check(facts)
    yield writers_check(facts)


def _of_overrides(facts: WorkloadFacts) -> Iterator[Finding]:
    yield from override_checks(facts.snapshot.workload)
    yield restarts_check(facts)


def _deletion(facts: WorkloadFacts) -> Iterator[Finding]:
    yield deletion_check(facts)


def name_check(workload: Workload) -> Finding:
    """Whether the names that are made of the Workload's name fit."""
    name = workload.metadata.name
    if len(name) > names.LABEL_LIMIT:
        detail = f"{len(name)} characters are too many for a label: at most {names.LABEL_LIMIT} fit"
        return Check.NAME.failed(detail, f"compute destroy {name}")
    made = {key: names.deployment(name, *key) for key in joins.expected(workload)}
    cut = [new for key, new in made.items() if new != "-".join((name, key[0], key[1].lower()))]
    if cut:
        return Check.NAME.passed(f"it fits; long names of deployments are shortened, as {cut[0]}")
    return Check.NAME.passed("it fits into every name that is made of it")


def controller_check(workload: Workload, now: datetime) -> Finding:
    """Whether the platform has observed the latest change."""
    wanted, observed = workload.metadata.generation, workload.status.observed_generation
    if observed >= wanted:
        return Check.CONTROLLER.passed("the platform has observed the latest change")
    changed = last_spec_write(workload)
    age = now - changed if changed else timedelta()
    detail = f"the platform has observed change {observed} of {wanted}"
    if age < _LATE:
        return Check.CONTROLLER.warning(f"{detail}; the last one is new", _status(workload))
    waited = f"the last one is {seconds(age)} old: no controller works"
    return Check.CONTROLLER.failed(f"{detail}; {waited}", "compute config view")


def history_check(facts: WorkloadFacts) -> Finding:
    """Whether there is a history, and its active revision is the present spec."""
    workload, known = facts.snapshot.workload, facts.history
    if isinstance(known, Unread):
        return Check.HISTORY.skipped(f"ConfigMaps: {known.why}")
    active = history.current(known)
    changed = last_spec_write(workload)
    is_new = changed is not None and facts.snapshot.at - changed < _LATE
    see = f"compute rollout history {workload.metadata.name}"
    if active is None:
        detail = "no revision is recorded: nothing can be undone"
        return Check.HISTORY.warning(detail, see) if is_new else Check.HISTORY.failed(detail, see)
    if history.spec_of(active) == workload.spec:
        return Check.HISTORY.passed(f"revision {active.rev} is the present spec")
    detail = f"the present spec is not recorded; the last revision is {active.rev}"
    return Check.HISTORY.warning(detail, see) if is_new else Check.HISTORY.failed(detail, see)


def deletion_check(facts: WorkloadFacts) -> Finding:
    """Whether a deletion makes progress."""
    look = facts.snapshot
    workload, since = look.workload, look.workload.metadata.deletion_timestamp
    why = explain_workload(workload, look.deployments, look.instances, look.at).cause.rstrip(".")
    if since is not None and look.at - since > _DELETION:
        minutes = int((look.at - since).total_seconds()) // 60
        cure = f"compute events {workload.metadata.name}"
        return Check.DELETION.failed(f"for {minutes} minutes: {why}", cure)
    return Check.DELETION.warning(why, f"compute wait {workload.metadata.name} --for deleted")


def _status(workload: Workload) -> str:
    return f"compute status {workload.metadata.name}"

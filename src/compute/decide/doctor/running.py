"""Whether the Instances of a Workload run, and what keeps those that do not."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from types import MappingProxyType
from typing import Final

from compute.api.compute import Instance, Workload
from compute.api.reasons import Reason, describe
from compute.decide import health, joins
from compute.decide.deployment.slots import is_ready
from compute.decide.deployment.template import recorded_hash
from compute.decide.doctor.checks import Check, Finding, seconds
from compute.decide.doctor.facts import Unread, WorkloadFacts
from compute.decide.doctor.writers import last_spec_write
from compute.decide.explain import cause, next_steps
from compute.decide.explain.checklist import checklist
from compute.decide.explain.titles import count, fill_in, fill_names
from compute.decide.health import CityHealth, CityState
from compute.decide.object_health import unready_since
from compute.decide.overrides import CityTemplates, is_paused
from compute.decide.progress import observe
from compute.decide.scheduling_gates import closed
from compute.decide.workload import history

LATE: Final = timedelta(seconds=60)
_ILL: Final = frozenset({CityState.FAILED, CityState.DOWN, CityState.BLOCKED, CityState.DEGRADED})
_ORDERED: Final = "OrderedReady"
_REASONS: Final[Mapping[Check, frozenset[str]]] = MappingProxyType(
    {
        Check.IMAGES: frozenset({Reason.IMAGE_UNAVAILABLE}),
        Check.CRASHES: frozenset({Reason.INSTANCE_CRASHING, Reason.FAILED}),
        Check.CONFIGURATION: frozenset({Reason.CONFIGURATION_ERROR}),
    }
)
_WELL: Final = MappingProxyType(
    {
        Check.IMAGES: "every image can be pulled",
        Check.CRASHES: "no program crashes",
        Check.CONFIGURATION: "variables, keys and mounts are right",
    }
)
_NAMED: Final = frozenset().union(*_REASONS.values(), {Reason.CELL_UNREACHABLE})


@dataclass(frozen=True)
class _Running:
    """The Instances of a Workload, and its cities as they are judged."""

    facts: WorkloadFacts

    @property
    def workload(self) -> Workload:
        return self.facts.snapshot.workload

    @cached_property
    def name(self) -> str:
        return self.workload.metadata.name

    @cached_property
    def cities(self) -> tuple[CityHealth, ...]:
        look = self.facts.snapshot
        return health.city_healths(observe(look), look.deployments, look.instances)

    @cached_property
    def silent(self) -> frozenset[str]:
        """The cities whose data is too old."""
        return frozenset(c.row.city for c in self.cities if c.state is CityState.UNREACHABLE)

    @cached_property
    def ill(self) -> frozenset[str]:
        """The cities that something blocks, which is reported at once."""
        return frozenset(c.row.city for c in self.cities if c.state in _ILL)

    @cached_property
    def instances(self) -> tuple[Instance, ...]:
        """The Instances that are not Ready and stay, as far as their cells report."""
        waiting = (
            i
            for i in self.facts.snapshot.instances
            if not i.deleting and not is_ready(i) and joins.city(i) not in self.silent
        )
        return tuple(sorted(waiting, key=joins.order))

    def waited(self, instance: Instance) -> timedelta:
        since = unready_since(instance)
        return self.facts.snapshot.at - since if since else timedelta()

    @cached_property
    def changed(self) -> timedelta:
        """The time since the spec was last written."""
        written = last_spec_write(self.workload)
        return self.facts.snapshot.at - written if written else timedelta()

    @cached_property
    def can_undo(self) -> bool:
        known = self.facts.history
        if isinstance(known, Unread) or known is None:
            return False
        return isinstance(history.undo(known, self.workload.spec), history.Undo)

    def cure(self, step: str) -> str:
        """The command of a next step; the events of the Workload where it names no other."""
        cities = frozenset(c.row.city for c in self.cities)
        possible = step if self.can_undo else next_steps.without_undo(step)
        command = next_steps.best_command(possible, cities=cities)
        is_circular = command.startswith("compute doctor")
        return f"compute events {self.name}" if is_circular or not command else command


def running_checks(facts: WorkloadFacts) -> Iterator[Finding]:
    """The checks of what runs."""
    running = _Running(facts)
    yield from _or_passed(_reports(running), Check.REPORTS, "every city has reported")
    yield from _or_passed(
        _gates(running), Check.GATES, "no instance waits at a gate without a known cause"
    )
    yield from _or_passed(_order(running), Check.ORDER, "no instance keeps others from an update")
    for check, reasons in _REASONS.items():
        yield from _or_passed(_failing(running, check, reasons), check, _WELL[check])
    yield from _or_passed(_others(running), Check.SERVING, "nothing else keeps a city from serving")


def _or_passed(found: Iterable[Finding], check: Check, well: str) -> Iterator[Finding]:
    results = tuple(found)
    yield from results or (check.passed(well),)


def _reports(running: _Running) -> Iterator[Finding]:
    """Cities whose cell has not reported for too long."""
    now = running.facts.snapshot.at
    for city in running.cities:
        if city.state is CityState.UNREACHABLE:
            why = city.row.why.rstrip(".")
            age = f"; its data is {seconds(now - city.row.since)} old" if city.row.since else ""
            detail = f"{city.row.city}: {why}{age}"
            yield Check.REPORTS.failed(detail, f"compute cities describe {city.row.city}")


def _gates(running: _Running) -> Iterator[Finding]:
    """Instances that have waited at a gate for too long, where nothing is known to block their city."""
    for instance in running.instances:
        waited = running.waited(instance)
        if not closed(instance) or waited < LATE or joins.city(instance) in running.ill:
            continue
        shut = [gate for gate in checklist(instance) if not gate.open]
        why = "; ".join(f"{gate.name}: {gate.why.rstrip('.')}" for gate in shut)
        detail = f"{instance.metadata.name} has waited for {seconds(waited)} at {why}"
        cure = f"compute instances describe {instance.metadata.name}"
        yield Check.GATES.failed(detail, cure)


def _order(running: _Running) -> Iterator[Finding]:
    """Instances of an old template that never become Ready and so keep an ordered update waiting.

    The cell replaces such an Instance first. One that stays shows that the cell does not, as other
    controllers of this design do.
    """
    templates = CityTemplates(running.workload)
    ordered = {
        deployment.metadata.name: templates.hash_of(deployment.spec.city_code)
        for deployment in running.facts.snapshot.deployments
        if deployment.spec.scale_settings.instance_management_policy == _ORDERED
        and not is_paused(running.workload, deployment.spec.city_code)
    }
    for instance in running.instances:
        template = ordered.get(joins.deployment_name(instance))
        is_stale = template is not None and recorded_hash(instance) != template
        if is_stale and running.waited(instance) >= LATE:
            name, waited = instance.metadata.name, seconds(running.waited(instance))
            detail = (
                f"{name} has an old template and has not been ready for {waited}: an ordered "
                "update waits for it"
            )
            yield Check.ORDER.failed(detail, f"compute instances delete {name}")


def _failing(running: _Running, check: Check, reasons: frozenset[str]) -> Iterator[Finding]:
    """Instances that cannot run for one of these reasons, in one result for each cause."""
    groups: dict[tuple[str, str], list[Instance]] = {}
    for instance in running.instances:
        found = cause.of_instance(instance)
        if found is not None and found.reason in reasons:
            text = " ".join(found.message.split()) or Reason(found.reason).meaning
            groups.setdefault((found.reason, text), []).append(instance)
    for (reason, text), instances in groups.items():
        cities = ", ".join(dict.fromkeys(map(joins.city, instances)))
        detail = f"{count(len(instances), 'instance')} in {cities}: {text.rstrip('.')}"
        step = fill_names(Reason(reason).next_step, instances[0])
        yield check.failed(detail, running.cure(step))


def _others(running: _Running) -> Iterator[Finding]:
    """What keeps cities from serving as asked, apart from what other checks name."""
    for city in running.cities:
        if city.state in _ILL and city.row.reason not in _NAMED:
            yield _blocked(running, city)
        elif city.state is CityState.QUEUED and running.changed >= LATE:
            detail = f"{city.row.city}: for {seconds(running.changed)} {city.row.why}"
            yield Check.SERVING.failed(detail, f"compute events {running.name}")
    yield from _slow(running)


def _blocked(running: _Running, city: CityHealth) -> Finding:
    row, known = city.row, describe(city.row.reason)
    step = fill_in(known.next_step, NAME=running.name, CITY=row.city) if known else ""
    detail = f"{row.city} is {city.state.value.lower()}: {row.why.rstrip('.')}"
    return Check.SERVING.failed(detail, running.cure(step))


def _slow(running: _Running) -> Iterator[Finding]:
    """Instances that should have started by now, where no other check says why they have not."""
    groups: dict[tuple[str, str], list[Instance]] = {}
    for instance in running.instances:
        found = cause.of_instance(instance)
        city = joins.city(instance)
        if (
            found is None
            or closed(instance)
            or city in running.ill
            or running.waited(instance) < LATE
        ):
            continue
        if found.reason not in _NAMED:
            text = " ".join(found.message.split()) or found.reason
            groups.setdefault((city, text.rstrip(".")), []).append(instance)
    for (city, text), instances in groups.items():
        waited = seconds(max(map(running.waited, instances)))
        who = count(len(instances), "instance")
        detail = f"{city}: {who} not ready for {waited}: {text}"
        yield Check.SERVING.failed(
            detail, f"compute instances describe {instances[0].metadata.name}"
        )

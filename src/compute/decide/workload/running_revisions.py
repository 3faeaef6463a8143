"""Which revision of its Workload an Instance runs, by the hash of its template."""

from dataclasses import dataclass

from compute.api.compute import Instance, Workload
from compute.decide import joins
from compute.decide.deployment.template import recorded_hash
from compute.decide.overrides import CityTemplates
from compute.decide.workload import history
from kubekit.api.kinds.core import ConfigMap


@dataclass(frozen=True, slots=True)
class RunningRevision:
    """The revision that an Instance runs, if it is known, and whether another one is asked for."""

    number: int | None = None
    outdated: bool = False


class RunningRevisions:
    """Finds the revisions of the Instances of one Workload."""

    def __init__(self, workload: Workload, revisions: ConfigMap | None) -> None:
        self._templates = CityTemplates(workload)
        self._active = history.current(revisions)
        # Several revisions have one template where only the scale was changed: the newest counts.
        self._numbers = {r.template_hash: r.rev for r in history.revisions(revisions)}

    def of(self, instance: Instance) -> RunningRevision:
        """The revision of an Instance. A restart of a city does not change the revision there."""
        city, running = joins.city(instance), recorded_hash(instance)
        if running != self._templates.hash_of(city):
            return RunningRevision(self._numbers.get(running), outdated=True)
        pin = self._templates.pin(city)
        if pin is not None:
            return RunningRevision(pin.revision or self._numbers.get(running))
        return RunningRevision(self._active.rev if self._active else None)

"""The changes that a deploy asks for, computed before anything is written.

Every change is a function of the object as it is on the server. So it can be shown first, and made
again on a newer version if another client was faster.
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from compute.api.compute import Workload
from compute.api.networking import Network
from compute.cli.change.planned_changes import PlannedChange, existing_object, joined
from compute.cli.deploy import manifests
from compute.cli.deploy.deploy_inputs import DeployInputs
from compute.cli.deploy.file_planning import changes_of_manifests
from compute.cli.deploy.missing_values import missing_values
from compute.cli.deploy.references import (
    Surroundings,
    missing_networks,
    surroundings,
    with_keys,
)
from compute.cli.deploy.staged_changes import staged_change, stages_note
from compute.cli.exits import Exit, Failure, listed_errors
from compute.cli.shell.session import Session
from compute.decide import validation
from compute.decide.workload.revision_note import noted
from compute.decide.workload_edits import DeployFlags, FlagError, desired
from compute.decide.workload_edits.chosen_cities import chosen, selected
from compute.views.deploy_plans import DeployPlanView, deploy_plan_view
from kubekit.api.fields import FieldError
from kubekit.api.kinds.core import Namespace
from kubekit.api.meta import Object, ObjectMeta

# The flag that a field of a Workload is set by, by a part of its path. The first that matches counts.
_FLAGS: Final = (
    ("cityCodes", "--city"),
    ("instanceType", "--instance-type"),
    ("max-unavailable", "--max-unavailable"),
    ("networkInterfaces", "--network"),
    ("imagePullSecrets", "--image-pull-secret"),
    ("labels", "--label"),
    (".env[", "--env"),
    (".ports[", "--port"),
    ("volume", "--configmap or --secret"),
    (".image", "--image"),
    ("spec.placements", "--placement"),
)


@dataclass(frozen=True, slots=True)
class DeployPlan:
    """The changes in the order in which they are written, and what users see of them."""

    changes: tuple[PlannedChange, ...]
    missing: tuple[tuple[str, str], ...]  # networks, by namespace and name
    view: DeployPlanView
    warnings: tuple[str, ...] = ()

    @property
    def workloads(self) -> tuple[PlannedChange, ...]:
        return tuple(c for c in self.changes if isinstance(c.wanted, Workload))

    @property
    def notes(self) -> tuple[str, ...]:
        """What else the user should know: what is missing, and why stages have no effect."""
        return (*self.warnings, *filter(None, map(stages_note, self.changes)))

    @property
    def new_namespaces(self) -> frozenset[str]:
        """Namespaces that do not exist before the deploy, so that a server cannot check what is in them."""
        new = (c.wanted for c in self.changes if c.existing is None)
        return frozenset(obj.metadata.name for obj in new if isinstance(obj, Namespace))


async def plan_of(session: Session, inputs: DeployInputs) -> DeployPlan:
    """The plan for these inputs."""
    if inputs.files:
        read = [manifest for path in inputs.files for manifest in manifests.read(path)]
        around = await surroundings(session)
        changes = await changes_of_manifests(session, read, around, inputs.note)
    else:
        around = await surroundings(session)
        changes = (await _of_flags(session, inputs, around),)
    changes = tuple(staged_change(change, inputs.staging) for change in changes)
    wanted = [change.wanted for change in changes]
    missing = await missing_networks(
        session,
        [c.wanted for c in changes if isinstance(c.wanted, Workload) and c.is_change],
        [each for each in wanted if isinstance(each, Network)],
    )
    pairs = [(change.existing, change.wanted) for change in changes]
    view = deploy_plan_view(pairs, around.left, [name for _, name in missing])
    return DeployPlan(changes, missing, view, await missing_values(session, changes))


async def _of_flags(session: Session, inputs: DeployInputs, around: Surroundings) -> PlannedChange:
    existing = await existing_object(session, Workload, inputs.name, session.namespace)
    flags = replace(inputs.flags, env_from=await with_keys(session, inputs.flags.env_from))
    meta = ObjectMeta(name=inputs.name, namespace=session.namespace)
    try:
        flags = replace(flags, cities=_cities(inputs, flags, around, existing))
        make = partial(_make_of_flags, flags, meta, inputs.note)
        wanted = make(existing)
    except FlagError as error:
        look = "compute cities" if error.flag in {"--city", "--location-selector"} else ""
        raise Failure(str(error), Exit.USAGE, next_step=look) from error
    if isinstance(wanted, Workload) and wanted is not existing:
        _refuse_invalid(wanted, existing, around)
    return PlannedChange(existing, wanted, make)


def _make_of_flags(
    flags: DeployFlags, meta: ObjectMeta, note: str, existing: Object | None
) -> Object:
    workload = existing if isinstance(existing, Workload) else None
    wanted = desired(workload, flags, meta)
    return noted(workload, wanted, note) if note else wanted


def _cities(
    inputs: DeployInputs, flags: DeployFlags, around: Surroundings, existing: Workload | None
) -> tuple[str, ...] | None:
    if inputs.location_selector:
        return selected(inputs.location_selector, around.bindings)
    if flags.cities is None:
        return None
    placements = existing.spec.placements if existing else ()
    return chosen(flags.cities, around.bindings, [c for p in placements for c in p.city_codes])


def _refuse_invalid(wanted: Workload, existing: Workload | None, around: Surroundings) -> None:
    """Refuse what a server would refuse, in terms of flags."""
    cities = around.cities
    if cities is None:
        cities = frozenset(city for p in wanted.spec.placements for city in p.city_codes)
    errors = validation.validate(wanted, cities=cities, old=existing).errors
    if errors:
        sentences = list(dict.fromkeys(map(_flag_error, errors)))
        raise Failure(joined(sentences), Exit.USAGE, lines=listed_errors(sentences))


def _flag_error(error: FieldError) -> str:
    """The error, with the flag in place of the path."""
    flag = next((flag for part, flag in _FLAGS if part in error.path), "")
    return f"{flag}: {error.message}" if flag else str(error)

"""What `compute plan` does."""

import json
import sys
from collections.abc import Iterable, Sequence
from typing import Any, Final

import click
import yaml

from compute.api.compute import Workload
from compute.cli.deploy import manifests
from compute.cli.deploy.manifest_errors import explained_field
from compute.cli.deploy.manifests import Manifest
from compute.cli.exits import Exit, Failure
from compute.cli.output.tables import plain, table
from compute.cli.streams import show
from compute.decide import city_codes
from compute.decide.validation import MOST_ERRORS
from compute.decide.validation.grammar import nearest
from compute.decide.workload.placement import Unmatched
from compute.decide.workload.preview import Need, Planned, Preview, cities_named, preview
from kubekit.api import scheme

_KIND: Final = Workload.RESOURCE.kind
_HEADERS: Final = ("PLACEMENT", "CITY", "DEPLOYMENT", "START", "INSTANCES", "VCPU", "MEMORY")
_START: Final = {"OrderedReady": "one by one", "Parallel": "at once"}


def run(files: Sequence[str], cities: Sequence[str], output: str) -> int:
    """Run it. The arguments are those of the command."""
    if files.count("-") > 1:
        raise click.UsageError("stdin can be read only once: give `-f -` one time")
    offered = _codes(cities)
    read = [manifest for file in files for manifest in manifests.read(file)]
    workloads = [m for m in read if _is_workload(m)]
    for manifest in (m for m in read if not _is_workload(m)):
        print(f"Skipped {_title(manifest)}: only Workloads are planned.", file=sys.stderr)
    if not workloads:
        where = ", ".join("stdin" if file == "-" else file for file in files)
        raise Failure(f"there is no Workload in {where}", next_step="compute explain workload")
    _check_codes(offered or (), workloads)
    plans = [(m.source, preview(m.document, offered)) for m in workloads]
    show(_text(plans) if output == "table" else _data(plans, output))
    if offered is None and output == "table":
        show("\nCities were taken as offered; check them with --cities.")
    wrong = sum(bool(plan.errors) for _, plan in plans)
    if wrong:
        count = f"{wrong} of {len(plans)} workloads" if len(plans) > 1 else "the workload"
        first = next(plan.errors[0] for _, plan in plans if plan.errors)
        raise Failure(
            f"{count} cannot be created as written", next_step=explained_field(_KIND, first.path)
        )
    return Exit.OK


def _codes(cities: Sequence[str]) -> list[str] | None:
    if not cities:
        return None
    codes = [code.strip() for text in cities for code in text.split(",")]
    if not all(codes):
        raise click.BadParameter("a city code is empty", param_hint="--cities")
    return codes


def _check_codes(codes: Iterable[str], workloads: Iterable[Manifest]) -> None:
    """Refuse a code that is neither known nor named by a manifest as a city of its own platform.

    A city that no manifest names does not change the plan, so such a code is a typing error.
    """
    named = {city for manifest in workloads for city in cities_named(manifest.document)}
    for code in codes:
        fault = None if code in named else city_codes.fault(code)
        if fault:
            more = "a code of your own platform is accepted where a manifest names it"
            raise click.BadParameter(f"{fault} ({more})", param_hint="--cities")


def _is_workload(manifest: Manifest) -> bool:
    """Whether a document is a Workload, or probably meant as one. Its errors name the wrong field."""
    kind, version = manifest.document.get("kind"), manifest.document.get("apiVersion")
    if kind is None:
        return True
    text = str(kind)
    if scheme.lookup(str(version), text) is not None:
        return text == _KIND
    known = nearest(text.removesuffix("s"), (each.RESOURCE.kind for each in scheme.kinds()))
    return known == _KIND or (known is None and version == Workload.RESOURCE.api_version)


def _title(manifest: Manifest) -> str:
    metadata = manifest.document.get("metadata")
    name = metadata.get("name", "") if isinstance(metadata, dict) else ""
    return plain(f"{manifest.document.get('kind')} {name}".strip() + f" in {manifest.source}")


def _text(plans: Iterable[tuple[str, Preview]]) -> str:
    return "\n\n".join(_section(source, plan) for source, plan in plans)


def _section(source: str, plan: Preview) -> str:
    name = plan.workload or "(no name)"
    parts = [plain(f"Workload {name} in namespace {plan.namespace} ({source})")]
    rows = [*map(_row, plan.deployments), *map(_missing_row, plan.unmatched)]
    if rows:
        parts += ["", table(_HEADERS, rows), "", _total(plan)]
    parts += _listed("Warnings", plan.warnings)
    parts += _listed("Errors", map(str, plan.errors))
    if len(plan.errors) == MOST_ERRORS:
        parts.append(f"  These are the first {MOST_ERRORS}; there may be more.")
    return "\n".join(parts)


def _row(planned: Planned) -> tuple[str, ...]:
    last = planned.need.instances - 1
    span = {-1: "none", 0: f"{planned.deployment}-0"}.get(last, f"{planned.deployment}-0..{last}")
    vcpu, memory = _amounts(planned.need)
    start = _START.get(planned.policy, planned.policy)
    return (planned.placement, planned.city, planned.deployment, start, span, vcpu, memory)


def _missing_row(unmatched: Unmatched) -> tuple[str, ...]:
    return (unmatched.placement, unmatched.city, "city not offered", "", "", "", "")


def _total(plan: Preview) -> str:
    vcpu, memory = _amounts(plan.need)
    when = "once corrected" if plan.errors else "needed"
    least = "at least " if plan.is_least else ""
    counts = f"{least}{_count(plan.need.instances, 'instance')}, {vcpu} vCPU, {memory} memory"
    return f"Quota {when}: {counts} in {_count(len(plan.deployments), 'deployment')}."


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _amounts(need: Need) -> tuple[str, str]:
    """Cores and memory; a question mark where the size is not known."""
    if need.instances and not need.millicores:
        return "?", "?"
    whole, milli = divmod(need.millicores, 1000)
    vcpu = str(whole) if milli == 0 else f"{whole}.{milli:03}".rstrip("0")
    return vcpu, f"{need.mebibytes} MiB"


def _listed(heading: str, lines: Iterable[str]) -> list[str]:
    indented = [f"  {plain(line)}" for line in lines]
    return ["", f"{heading}:", *indented] if indented else []


def _data(plans: Iterable[tuple[str, Preview]], output: str) -> str:
    """The plans for scripts, in ASCII: every stream can encode it, and it holds no control characters."""
    document = {"workloads": [_view(source, plan) for source, plan in plans]}
    if output == "yaml":
        text: str = yaml.safe_dump(document, sort_keys=False)
        return text.rstrip("\n")
    return json.dumps(document, indent=2)


def _view(source: str, plan: Preview) -> dict[str, Any]:
    return {
        "source": source,
        "namespace": plan.namespace,
        "name": plan.workload,
        "deployments": [
            {
                "placement": d.placement,
                "city": d.city,
                "name": d.deployment,
                "instanceManagementPolicy": d.policy,
                "instances": list(d.instances),
                "quota": _quota(d.need),
            }
            for d in plan.deployments
        ],
        "quota": _quota(plan.need),
        "unmatchedCities": [{"placement": u.placement, "city": u.city} for u in plan.unmatched],
        "errors": [
            {"field": str(e.path), "reason": e.problem.value, "message": e.message}
            for e in plan.errors
        ],
        "warnings": list(plan.warnings),
    }


def _quota(need: Need) -> dict[str, int]:
    return {
        "instances": need.instances,
        "vcpuMillicores": need.millicores,
        "memoryMiB": need.mebibytes,
    }

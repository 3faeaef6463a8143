"""Names of objects on the server of the target: one GET, and a short cache.

Completion never fails: without a server, a project or permission there are no names.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from compute.cli.completion import name_cache
from compute.cli.completion.name_cache import Names

Document = Any
_COMPUTE: Final = "/apis/compute.datumapis.com/v1alpha"
_NETWORKING: Final = "/apis/networking.datumapis.com/v1alpha"
_MOST: Final = "limit=500"
_CITY: Final = "topology.datum.net/city-code"
_HISTORY: Final = "compute.datumapis.com-revision-history"
_PROJECT: Final = "project-"
_CELL: Final = "cell-"


def live_names(
    resource: str,
    flags: Mapping[str, str],
    workload: str = "",
    variables: Mapping[str, str] = os.environ,
) -> Names:
    """The names of a resource, each with a description."""
    import time  # noqa: PLC0415 -- beside its use, which is the only one

    file, now = name_cache.cache_file(variables), time.time()  # noqa: TID251 -- the age of a file
    key = name_cache.key_of([resource, workload, *_determined_by(flags, variables)])
    known = name_cache.cached(file, key, now)
    if known is None:
        known = _read(resource, flags, workload, variables)
        name_cache.keep(file, key, known, now)
    return known


def _determined_by(flags: Mapping[str, str], variables: Mapping[str, str]) -> list[str]:
    """Everything that the target depends on, except for the contents of files."""
    named = ("COMPUTE_", "DATUM_", "KUBECONFIG", "HOME", "XDG_")
    return [
        os.getcwd(),  # noqa: PTH109 -- pathlib adds nothing
        *(f"{name}={value}" for name, value in sorted(flags.items())),
        *(f"{name}={value}" for name, value in sorted(variables.items()) if name.startswith(named)),
    ]


def _read(
    resource: str, flags: Mapping[str, str], workload: str, variables: Mapping[str, str]
) -> Names:
    try:
        if resource in _LOCAL:
            return sorted(_LOCAL[resource](flags, variables))
        path, names_in = _SERVED[resource]
        return sorted(set(names_in(_get(path, flags, workload, variables))))
    except Exception:  # noqa: BLE001 -- completion never reports an error
        return []


def _get(
    path: str, flags: Mapping[str, str], workload: str, variables: Mapping[str, str]
) -> Document:
    from urllib.parse import quote  # noqa: PLC0415 -- only where the cache has no names

    from compute.app.system_environment import system  # noqa: PLC0415
    from compute.cli.completion.quick_get import get  # noqa: PLC0415
    from compute.cli.target.resolution import resolve  # noqa: PLC0415

    target = resolve(flags, system(), variables)
    parts = {"namespace": quote(target.namespace, ""), "workload": quote(workload, "")}
    return get(target.connection, path.format(**parts)) or {}


def _workloads(answer: Document) -> Iterator[tuple[str, str]]:
    for item in answer["items"]:
        yield item["metadata"]["name"], _image(item)


def _image(workload: Document) -> str:
    runtime = workload["spec"]["template"]["spec"]["runtime"]
    containers = (runtime.get("sandbox") or {}).get("containers") or [{}]
    return str(containers[0].get("image", "virtual machine"))


def _instances(answer: Document) -> Iterator[tuple[str, str]]:
    for item in answer["items"]:
        conditions = {c["type"]: c for c in item.get("status", {}).get("conditions", ())}
        ready = conditions.get("Ready", {})
        is_ready = ready.get("status") == "True"
        yield item["metadata"]["name"], "Ready" if is_ready else ready.get("reason", "")


def _cities(answer: Document) -> Iterator[tuple[str, str]]:
    for item in answer["items"]:
        spec = item["spec"]
        code = spec.get("topology", {}).get(_CITY)
        if code:
            yield code.upper(), spec.get("displayName", "")


def _named(answer: Document) -> Iterator[tuple[str, str]]:
    for item in answer["items"]:
        yield item["metadata"]["name"], ""


def _revisions(answer: Document) -> Iterator[tuple[str, str]]:
    import json  # noqa: PLC0415 -- only for revisions

    for number, text in answer["data"].items():
        yield number, json.loads(text).get("changes", "")


def _contexts(flags: Mapping[str, str], variables: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    from pathlib import Path  # noqa: PLC0415 -- only where the cache has no names

    from compute.app.data_folder import KUBECONFIG, default_data  # noqa: PLC0415
    from compute.cli.target.kubeconfigs import files  # noqa: PLC0415
    from kubekit.client.kubeconfig import contexts  # noqa: PLC0415

    world = Path(flags["data"]) if flags.get("data") else default_data(variables)
    paths = files(flags.get("kubeconfig", ""), variables)
    for name in contexts(paths or [world / KUBECONFIG]):
        yield name, ""


def _projects(flags: Mapping[str, str], variables: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The projects that have a context of their own, as in the kubeconfig of a world."""
    for name, text in _contexts(flags, variables):
        if name.startswith(_PROJECT):
            yield name.removeprefix(_PROJECT), text


def _cells(flags: Mapping[str, str], variables: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The cells of a world, each of which has a context."""
    for name, text in _contexts(flags, variables):
        if name.startswith(_CELL):
            yield name.removeprefix(_CELL), text


def _instance_types(_: Mapping[str, str], __: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    from compute.decide.validation.runtime import INSTANCE_TYPES  # noqa: PLC0415 -- as above

    for name in INSTANCE_TYPES:
        yield name, ""


_SERVED: Final[Mapping[str, tuple[str, Callable[[Document], Iterator[tuple[str, str]]]]]] = {
    "workloads": (_COMPUTE + "/namespaces/{namespace}/workloads?" + _MOST, _workloads),
    "instances": (_COMPUTE + "/namespaces/{namespace}/instances?" + _MOST, _instances),
    "cities": (_NETWORKING + "/locationbindings?" + _MOST, _cities),
    "networks": (_NETWORKING + "/namespaces/{namespace}/networks?" + _MOST, _named),
    "revisions": (
        "/api/v1/namespaces/{namespace}/configmaps/" + _HISTORY + ".{workload}",
        _revisions,
    ),
}
_LOCAL: Final = {
    "cells": _cells,
    "contexts": _contexts,
    "instance-types": _instance_types,
    "projects": _projects,
}

"""A context of a kubeconfig as a target."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import msgspec

from compute.app.data_folder import KUBECONFIG, default_data, is_world
from compute.cli.exits import Failure
from compute.cli.target.chosen import Target, TargetRule
from compute.cli.target.project_paths import project_of, with_project
from compute.cli.target.wishes import Wish, Wishes
from kubekit.client.connection import Misconfigured
from kubekit.client.kubeconfig import contexts, load
from kubekit.client.kubeconfig.config_files import read

_PROJECT: Final = "project-"
DEFAULT_NAMESPACE: Final = Wish("default", "default")


def files(named: str, variables: Mapping[str, str]) -> list[Path]:
    """The kubeconfig files: the named one, those of KUBECONFIG that exist, or that of kubectl.

    If none of KUBECONFIG exists, all are returned, so that reading them names what is missing.
    """
    if named:
        return [Path(named)]
    if listed := [Path(path) for path in variables.get("KUBECONFIG", "").split(os.pathsep) if path]:
        return [path for path in listed if path.exists()] or listed
    usual = Path(variables.get("HOME") or Path.home()) / ".kube" / "config"
    return [usual] if usual.is_file() else []


def has_current_context(paths: Sequence[Path]) -> bool:
    """Whether the files choose a context. Damaged files count: their error is to be reported."""
    try:
        return bool(read(paths, {}).current)
    except Misconfigured:
        return True


def target_of(paths: Sequence[Path], wishes: Wishes, rule: TargetRule, context: str = "") -> Target:
    """The target in these files, in the given context or the one that the flags choose.

    A project is chosen by its own context where there is one, as in the kubeconfig of a world: its user
    has rights in that project. Otherwise it is a path below the server of the context.
    """
    project = wishes.project
    try:
        context = context or wishes.flag("context")
        if project.value and not context and f"{_PROJECT}{project.value}" in contexts(paths):
            context = f"{_PROJECT}{project.value}"
        connection = load(wishes.environment, paths, context, wishes.variables)
    except Misconfigured as error:
        raise Failure(str(error), next_step="compute config view") from error
    own = project_of(connection.server)
    if project.value and own != project.value:
        connection = replace(connection, server=with_project(connection.server, project.value))
    in_context = f"context {connection.origin.context}"
    namespace = next(
        wish
        for wish in (wishes.namespace, Wish(connection.namespace, in_context), DEFAULT_NAMESPACE)
        if wish.value
    )
    folder = paths[0].parent
    return Target(
        connection=connection,
        project=project_of(connection.server),
        project_from=project.source or (in_context if own else ""),
        namespace=namespace.value,
        namespace_from=namespace.source,
        rule=rule,
        detail=os.pathsep.join(map(str, paths)),
        context=connection.origin.context,
        kubeconfig=paths[0],
        world=folder if paths[0].name == KUBECONFIG and is_world(folder) else None,
    )


def world_target(data: Path, wishes: Wishes, rule: TargetRule) -> Target:
    """The target in the world that keeps its data in a folder."""
    file = data / KUBECONFIG
    if not file.is_file():
        raise Failure(f"there is no world in {data}", next_step=_up(data, wishes.variables))
    target = target_of([file], wishes, rule)
    return msgspec.structs.replace(target, detail=str(data), world=data)


def _up(data: Path, variables: Mapping[str, str]) -> str:
    is_default = data.resolve() == default_data(variables).resolve()
    return "compute up --detach" + ("" if is_default else f" --data {data}")

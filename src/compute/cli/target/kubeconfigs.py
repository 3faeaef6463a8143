"""A context of a kubeconfig as a target."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from compute.app.data_folder import KUBECONFIG, default_data
from compute.cli.exits import Failure
from compute.cli.target.chosen import Target, TargetRule
from compute.cli.target.project_paths import project_of, with_project
from kubekit.client.connection import Misconfigured
from kubekit.client.kubeconfig import contexts, load
from kubekit.environment import ExecutionEnvironment

_PROJECT: Final = "project-"
DEFAULT_NAMESPACE: Final = "default"


def files(named: str, variables: Mapping[str, str]) -> list[Path]:
    """The kubeconfig files that exist: the named one, those of KUBECONFIG, or that of kubectl."""
    if named:
        return [Path(named)]
    listed = variables.get("KUBECONFIG")
    if listed:
        return [Path(path) for path in listed.split(os.pathsep) if path]
    usual = Path(variables.get("HOME") or Path.home()) / ".kube" / "config"
    return [usual] if usual.is_file() else []


def target_of(
    paths: Sequence[Path],
    flags: Mapping[str, str],
    environment: ExecutionEnvironment,
    rule: TargetRule,
) -> Target:
    """The target that the flags choose in these files.

    A project is chosen by its own context where there is one, as in the kubeconfig of a world: its user
    has rights in that project. Otherwise it is a path below the server of the context.
    """
    try:
        context, project = flags.get("context", ""), flags.get("project", "")
        if project and not context and f"{_PROJECT}{project}" in contexts(paths):
            context = f"{_PROJECT}{project}"
        connection = load(environment, paths, context)
    except Misconfigured as error:
        raise Failure(str(error), next_step="compute config view") from error
    if project and project_of(connection.server) != project:
        connection = replace(connection, server=with_project(connection.server, project))
    return Target(
        connection=connection,
        project=project_of(connection.server),
        namespace=flags.get("namespace") or connection.namespace or DEFAULT_NAMESPACE,
        rule=rule,
        detail=os.pathsep.join(map(str, paths)),
        context=connection.origin.context,
        kubeconfig=paths[0],
    )


def world_target(
    data: Path, flags: Mapping[str, str], environment: ExecutionEnvironment, rule: TargetRule
) -> Target:
    """The target in the world that keeps its data in a folder."""
    file = data / KUBECONFIG
    if not file.is_file():
        raise Failure(f"there is no world in {data}", next_step=_up(data))
    target = target_of([file], flags, environment, rule)
    return replace(target, detail=str(data), world=data)


def _up(data: Path) -> str:
    is_default = data.resolve() == default_data().resolve()
    return "compute up --detach" + ("" if is_default else f" --data {data}")

"""Users of a project: grants and revokes roles in the project's plane of a running world."""

from typing import Final

import click

from compute.api import cluster_roles
from compute.api.resource_manager import Project
from compute.app.planes import PlaneRef
from compute.app.world_folder import WorldFolder
from compute.app.world_status import client
from compute.cli.exits import Exit, Failure
from compute.decide.conditions import is_true
from kubekit.api.errors import AlreadyExists, NotFound
from kubekit.api.kinds import rbac
from kubekit.api.kinds.rbac import ClusterRoleBinding, RoleRef, Subject
from kubekit.api.meta import ObjectMeta

ROLES: Final = {
    "viewer": cluster_roles.VIEWER.metadata.name,
    "editor": cluster_roles.EDITOR.metadata.name,
    "admin": cluster_roles.ADMIN.metadata.name,
}
DEFAULT_ROLE: Final = "editor"
_NOT_IN_NAMES: Final = "/%"  # of objects


async def grant_role(folder: WorldFolder, project: str, user: str, role: str) -> None:
    """Grant a user one role in a project. It replaces the role that this user had there."""
    wanted = _binding(user, role)
    await _require(folder, project)
    async with client(folder, PlaneRef("project", project).admin_context) as plane:
        while True:
            try:
                await plane.create(wanted)
            except AlreadyExists:
                present = await plane.find(ClusterRoleBinding, wanted.metadata.name)
                if present is not None and _same(present, wanted):
                    return
                if present is not None:  # the role of a binding cannot be changed
                    await plane.delete(present)
            else:
                return


async def revoke_role(folder: WorldFolder, project: str, user: str) -> bool:
    """Revoke the role of a user in a project. Returns whether there was one."""
    name = _name(user)
    await _require(folder, project)
    async with client(folder, PlaneRef("project", project).admin_context) as plane:
        present = await plane.find(ClusterRoleBinding, name)
        if present is None:
            return False
        try:
            await plane.delete(present)
        except NotFound:
            return False
        return True


async def _require(folder: WorldFolder, name: str) -> None:
    """Refuse a project that does not exist or cannot be used, in one sentence."""
    async with client(folder, "core") as core:
        projects = (await core.every(Project)).items
    project = next((each for each in projects if each.metadata.name == name), None)
    if project is None:
        known = ", ".join(sorted(each.metadata.name for each in projects)) or "none"
        raise Failure(
            f"there is no project {name}; projects: {known}",
            Exit.NOT_FOUND,
            next_step="compute plane users add --help",
        )
    if project.deleting:
        raise Failure(f"the project {name} is being deleted", Exit.CONFLICT)
    if not is_true(project.status.conditions, "Ready"):
        raise Failure(
            f"the project {name} is not Ready yet; `{folder.command('up status')}` shows when it is",
            Exit.NOT_YET,
            next_step=folder.command("up status"),
        )


def _binding(user: str, role: str) -> ClusterRoleBinding:
    return ClusterRoleBinding(
        metadata=ObjectMeta(name=_name(user)),
        subjects=(Subject(kind="User", api_group=rbac.GROUP, name=user),),
        role_ref=RoleRef(kind="ClusterRole", name=ROLES[role]),
    )


def _name(user: str) -> str:
    """The name of the binding of a user. Only this name identifies the binding."""
    if any(sign in user for sign in _NOT_IN_NAMES):
        message = f"a user of a project may not have / or % in the name: {user}"
        raise click.BadParameter(message, param_hint="NAME")
    return f"compute-user:{user}"


def _same(one: ClusterRoleBinding, other: ClusterRoleBinding) -> bool:
    return (one.role_ref, one.subjects) == (other.role_ref, other.subjects)

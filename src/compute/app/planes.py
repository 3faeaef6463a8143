"""The planes of a world on one machine: the core, the hub, a cell for each site, and the projects'."""

import asyncio
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, Protocol

from compute.api import cluster_roles, compute, networking, quota, resource_manager, services
from compute.app import crds
from kubekit.api.errors import AlreadyExists
from kubekit.api.kinds import rbac
from kubekit.api.kinds.core import Namespace
from kubekit.api.kinds.rbac import ClusterRole, ClusterRoleBinding, RoleRef, Subject
from kubekit.api.meta import Object, ObjectMeta
from kubekit.api.structural.nodes import Document
from kubekit.client.client import Client
from kubekit.environment import ExecutionEnvironment
from kubekit.plane import Plane, PlaneDirectory, User, builtin_kinds

Role = Literal["core", "hub", "cell", "project"]

_KARMADA: Final = ("cluster", "policy", "work", "config")
# Which groups of kinds a plane of each role serves, besides Kubernetes' own.
_GROUPS: Final[dict[Role, frozenset[str]]] = {
    "core": frozenset({resource_manager.GROUP, quota.GROUP, services.GROUP}),
    "hub": frozenset({compute.GROUP, *(f"{part}.karmada.io" for part in _KARMADA)}),
    "cell": frozenset({compute.GROUP, networking.GROUP}),
    "project": frozenset({compute.GROUP, networking.GROUP, quota.GROUP, services.GROUP}),
}
# Which ClusterRoles for users a plane has, besides Kubernetes' own.
_ROLES: Final[dict[Role, tuple[ClusterRole, ...]]] = {
    "core": (),
    "hub": (cluster_roles.OPERATOR,),
    "cell": (cluster_roles.OPERATOR,),
    "project": cluster_roles.OF_PROJECTS,
}
PROJECT_USERS: Final = "project:"
"""The prefix of the names of the projects' own users."""
SYSTEM: Final = "compute-system"
"""The namespace of a cell plane that holds the settings of the cell."""
PLATFORM: Final = "milo-system"
"""The namespace of the core plane that holds the settings of the platform."""
_PROJECTS: Final = f"/apis/{resource_manager.GROUP}/{resource_manager.VERSION}/projects"


@dataclass(frozen=True, slots=True)
class PlaneRef:
    """A plane of the world, by its role and its name."""

    role: Role
    name: str

    @property
    def prefix(self) -> str:
        """The path below which it is served."""
        match self.role:
            case "core":
                return "/"
            case "project":
                return f"{_PROJECTS}/{self.name}/control-plane"
            case _:
                return f"/clusters/{self.name}"

    @property
    def context(self) -> str:
        """The name of its context in a kubeconfig."""
        return self.name if self.role in {"core", "hub"} else f"{self.role}-{self.name}"

    @property
    def admin_context(self) -> str:
        """The administrator's context. A project also has a context for its own user."""
        return self.context if self.user is None else f"admin-{self.context}"

    @property
    def definitions(self) -> list[Document]:
        """The kinds it starts with."""
        groups = _GROUPS[self.role]
        return [each for each in crds.definitions() if each["spec"]["group"] in groups]

    @property
    def access(self) -> Sequence[ClusterRole | ClusterRoleBinding]:
        """The ClusterRoles for users, and the binding of the project's own user, that it starts with."""
        user = self.user
        return (*_ROLES[self.role], *([] if user is None else [_admin_binding(user)]))

    @property
    def user(self) -> User | None:
        """The administrator of a project's plane; None for the other planes."""
        return User(f"{PROJECT_USERS}{self.name}:admin") if self.role == "project" else None


def _admin_binding(user: User) -> ClusterRoleBinding:
    return ClusterRoleBinding(
        metadata=ObjectMeta(name="compute-project-admin"),
        subjects=(Subject(kind="User", api_group=rbac.GROUP, name=user.name),),
        role_ref=RoleRef(kind="ClusterRole", name=cluster_roles.ADMIN.metadata.name),
    )


CORE: Final = PlaneRef("core", "core")
HUB: Final = PlaneRef("hub", "hub")


class PlaneFactory(Protocol):
    """Opens planes, and deletes their data."""

    async def open(self, ref: PlaneRef) -> Plane: ...

    async def destroy(self, ref: PlaneRef) -> None:
        """Delete all that a closed plane has stored."""
        ...


class PlaneObserver(Protocol):
    """Is notified of every plane that opens or closes. Neither call may wait for anything."""

    def opened(self, ref: PlaneRef, plane: Plane) -> None: ...

    def closing(self, ref: PlaneRef, plane: Plane) -> None: ...


class OpenPlanes:
    """The planes that are open."""

    def __init__(self, factory: PlaneFactory) -> None:
        self._factory = factory
        self._planes: dict[PlaneRef, Plane] = {}
        self._observers: list[PlaneObserver] = []
        self._busy = asyncio.Lock()

    def __iter__(self) -> Iterator[PlaneRef]:
        return iter(tuple(self._planes))

    def __getitem__(self, ref: PlaneRef) -> Plane:
        return self._planes[ref]

    def find(self, ref: PlaneRef) -> Plane | None:
        return self._planes.get(ref)

    def join(self, observer: PlaneObserver) -> None:
        """Notify an observer of every plane that is open, and of each that opens or closes."""
        self._observers.append(observer)
        for ref, plane in self._planes.items():
            observer.opened(ref, plane)

    async def open(self, ref: PlaneRef) -> Plane:
        """The plane, opened if it is not yet."""
        async with self._busy:
            plane = self._planes.get(ref)
            if plane is None:
                plane = self._planes[ref] = await self._factory.open(ref)
                for observer in self._observers:
                    observer.opened(ref, plane)
            return plane

    async def remove(self, ref: PlaneRef) -> None:
        """Close a plane, and delete all that it has stored."""
        async with self._busy:
            await self._close(ref)
            await self._factory.destroy(ref)

    async def close(self) -> None:
        """Close every plane, the last opened first."""
        async with self._busy:
            for ref in reversed(list(self._planes)):
                await self._close(ref)

    async def _close(self, ref: PlaneRef) -> None:
        plane = self._planes.pop(ref, None)
        if plane is not None:
            for observer in reversed(self._observers):
                observer.closing(ref, plane)
            await plane.close()


class PlaneFolders:
    """Opens planes in subfolders of one folder."""

    def __init__(self, data: Path, environment: ExecutionEnvironment) -> None:
        self._data = data
        self._environment = environment

    async def open(self, ref: PlaneRef) -> Plane:
        return await Plane.open(
            folder(self._data, ref),
            builtin_kinds(),
            self._environment,
            definitions=ref.definitions,
            access=ref.access,
        )

    async def destroy(self, ref: PlaneRef) -> None:
        await asyncio.to_thread(shutil.rmtree, folder(self._data, ref), ignore_errors=True)


def folder(data: Path, ref: PlaneRef) -> Path:
    """The folder of a plane."""
    planes = data / "planes"
    return planes / ref.name if ref in {CORE, HUB} else planes / f"{ref.role}s" / ref.name


def core_directory(data: Path) -> PlaneDirectory:
    """The directory of the core plane, which is locked while a world runs."""
    return PlaneDirectory(folder(data, CORE))


async def ensure_namespace(client: Client, name: str) -> None:
    await create_if_missing(client, Namespace(metadata=ObjectMeta(name=name)))


async def create_if_missing(client: Client, obj: Object) -> None:
    """Create an object, unless it exists. Later changes by users are kept."""
    try:
        await client.create(obj)
    except AlreadyExists:
        return

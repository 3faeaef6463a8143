"""ConfigMaps and Secrets as people read them: their keys and users, and never a value."""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime

from compute.api import names
from compute.api.compute import Workload
from compute.decide.stored_values import Store, values_of
from compute.decide.value_references import users
from compute.views.view import View
from kubekit.api.kinds.core import Secret


class KeyView(View, frozen=True, kw_only=True):
    """One key. The size is all that is shown of its value."""

    name: str
    bytes: int


class StoreUserView(View, frozen=True, kw_only=True):
    """A Workload that uses values of the object."""

    name: str
    uses: tuple[str, ...]
    needs_restart: bool


class StoreView(View, frozen=True, kw_only=True):
    """A ConfigMap or Secret without its values."""

    name: str
    namespace: str
    kind: str
    type: str | None  # of a Secret
    keys: tuple[KeyView, ...]
    used_by: tuple[StoreUserView, ...] | None  # None where Workloads cannot be read
    immutable: bool
    created_at: datetime | None
    changed: tuple[str, ...] = ()  # keys that a command has just changed or removed

    @property
    def to_restart(self) -> tuple[str, ...]:
        """The Workloads that keep old values until they are restarted."""
        return tuple(user.name for user in self.used_by or () if user.needs_restart)


def store_view(
    store: Store, workloads: Iterable[Workload] | None = None, changed: Collection[str] = ()
) -> StoreView:
    """One ConfigMap or Secret, after these keys have changed."""
    meta, kind = store.metadata, type(store)
    return StoreView(
        name=meta.name,
        namespace=meta.namespace,
        kind=kind.RESOURCE.kind,
        type=store.type if isinstance(store, Secret) else None,
        keys=tuple(
            KeyView(name=key, bytes=len(value)) for key, value in sorted(values_of(store).items())
        ),
        used_by=None if workloads is None else _users(store, workloads, changed),
        immutable=bool(store.immutable),
        created_at=meta.creation_timestamp,
        changed=tuple(sorted(changed)),
    )


def store_views(
    stores: Iterable[Store], workloads: Sequence[Workload] | None
) -> tuple[StoreView, ...]:
    """All of a namespace by name, without the histories of Workloads, which are not for users."""
    shown = (each for each in stores if names.history_workload(each.metadata.name) is None)
    return tuple(sorted((store_view(each, workloads) for each in shown), key=lambda v: v.name))


def _users(
    store: Store, workloads: Iterable[Workload], changed: Collection[str]
) -> tuple[StoreUserView, ...]:
    return tuple(
        StoreUserView(
            name=user.workload,
            uses=tuple(use.value for use in user.uses),
            needs_restart=user.needs_restart,
        )
        for user in users(type(store), store.metadata.name, workloads, changed)
    )

"""Aggregated ClusterRoles: their rules follow the roles that their selectors match."""

from collections.abc import Iterable
from typing import Final

from kubekit.api import scheme
from kubekit.api.errors import Conflict, NotFound
from kubekit.api.kinds.rbac import AggregationRule, ClusterRole, PolicyRule
from kubekit.api.selectors import label_selectors
from kubekit.client.options import PatchType, WriteOptions
from kubekit.plane.access.rbac_index import CLUSTER_ROLES
from kubekit.plane.registry.background.keyed_worker import KeyedWorker
from kubekit.plane.registry.encoding import decode, encode
from kubekit.plane.registry.registry import Registry
from kubekit.plane.store.records import ChangeEvent, ChangeType, Record
from kubekit.plane.store.store import Store

_WRITE: Final = WriteOptions(field_manager="clusterrole-aggregation-controller")


class Aggregator:
    """Reconciles the rules of aggregated roles."""

    def __init__(self, store: Store, registry: Registry) -> None:
        self._store = store
        self._registry = registry
        self._roles: dict[str, ClusterRole] = {}
        self._aggregated: dict[str, None] = {}  # the names of aggregated roles, in a fixed order
        self.worker: KeyedWorker[str] = KeyedWorker(self._reconcile)

    def start(self) -> None:
        """Reconcile all aggregated roles now, and whenever a role changes."""
        for record in self._store.collection(CLUSTER_ROLES).range():
            self._note(record)
        self.worker.on_close(self._store.listen(self._on_event, (CLUSTER_ROLES,)))
        self._requeue_all()

    def _on_event(self, resource: str, event: ChangeEvent) -> None:
        if resource != CLUSTER_ROLES:
            return
        if event.change is ChangeType.DELETED:
            self._roles.pop(event.record.key, None)
            self._aggregated.pop(event.record.key, None)
        else:
            self._note(event.record)
        self._requeue_all()

    def _note(self, record: Record) -> None:
        try:
            role = scheme.decode_as(ClusterRole, record.data)
        except scheme.DecodeError:
            return  # the index of roles logs it
        self._roles[record.key] = role
        if role.aggregation_rule is None:
            self._aggregated.pop(record.key, None)
        else:
            self._aggregated[record.key] = None

    def _requeue_all(self) -> None:
        for name in self._aggregated:
            self.worker.add(name)

    async def _reconcile(self, name: str) -> None:
        role = self._roles.get(name)
        if role is None or role.aggregation_rule is None:
            return
        rules = self._rules(name, role.aggregation_rule)
        if rules == role.rules:
            return
        kind = self._registry.kinds.stored_as(CLUSTER_ROLES)
        version = {"resourceVersion": role.metadata.resource_version}
        patch = {"metadata": version, "rules": decode(encode(rules))}
        try:
            await self._registry.patch(kind, "", name, PatchType.MERGE, patch, _WRITE)
        except (Conflict, NotFound):
            if self._roles.get(name) is role:
                raise  # a webhook may answer like this too: retry with backoff
            self.worker.add(name)  # it changed in the meantime

    def _rules(self, name: str, wanted: AggregationRule) -> tuple[PolicyRule, ...]:
        """The rules of all matching roles without duplicates, in the order of the roles' names."""
        rules: dict[PolicyRule, None] = {}
        for typed in wanted.cluster_role_selectors:
            selector = label_selectors.from_typed(typed)
            for other in sorted(self._roles):
                if other != name and selector.matches(self._roles[other].metadata.labels):
                    rules.update(_once(self._roles[other].rules))
        return tuple(rules)


def _once(rules: Iterable[PolicyRule]) -> dict[PolicyRule, None]:
    return dict.fromkeys(rules)

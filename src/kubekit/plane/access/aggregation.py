"""ClusterRoles that are the sum of others: kept so, whenever one of the others changes."""

from collections.abc import Iterable
from typing import Final

from kubekit.api import scheme
from kubekit.api.errors import Conflict, NotFound
from kubekit.api.kinds.rbac import AggregationRule, ClusterRole, PolicyRule
from kubekit.api.selectors import label_selectors
from kubekit.client.options import PatchType, WriteOptions
from kubekit.plane.access.index import CLUSTER_ROLES
from kubekit.plane.registry.background.keyed_worker import KeyedWorker
from kubekit.plane.registry.encoding import decode, encode
from kubekit.plane.registry.registry import Registry
from kubekit.plane.store.records import ChangeEvent, ChangeType, Record
from kubekit.plane.store.store import Store

_WRITE: Final = WriteOptions(field_manager="clusterrole-aggregation-controller")


class Aggregator:
    """The chore that fills in the rules of such roles."""

    def __init__(self, store: Store, registry: Registry) -> None:
        self._store = store
        self._registry = registry
        self._parts: dict[str, ClusterRole] = {}
        self._sums: dict[str, None] = {}  # the names of roles that others fill in, in one order
        self.worker: KeyedWorker[str] = KeyedWorker(self._look)

    def start(self) -> None:
        """Look at every sum, and from then on whenever a role changes."""
        for record in self._store.collection(CLUSTER_ROLES).range():
            self._note(record)
        self.worker.on_close(self._store.listen(self._heard, (CLUSTER_ROLES,)))
        self._look_at_all()

    def _heard(self, resource: str, event: ChangeEvent) -> None:
        if resource != CLUSTER_ROLES:
            return
        if event.change is ChangeType.DELETED:
            self._parts.pop(event.record.key, None)
            self._sums.pop(event.record.key, None)
        else:
            self._note(event.record)
        self._look_at_all()

    def _note(self, record: Record) -> None:
        try:
            role = scheme.decode_as(ClusterRole, record.data)
        except scheme.DecodeError:
            return  # the index of roles says so
        self._parts[record.key] = role
        if role.aggregation_rule is None:
            self._sums.pop(record.key, None)
        else:
            self._sums[record.key] = None

    def _look_at_all(self) -> None:
        for name in self._sums:
            self.worker.add(name)

    async def _look(self, name: str) -> None:
        role = self._parts.get(name)
        if role is None or role.aggregation_rule is None:
            return
        rules = self._summed(name, role.aggregation_rule)
        if rules == role.rules:
            return
        kind = self._registry.kinds.stored_as(CLUSTER_ROLES)
        version = {"resourceVersion": role.metadata.resource_version}
        patch = {"metadata": version, "rules": decode(encode(rules))}
        try:
            await self._registry.patch(kind, "", name, PatchType.MERGE, patch, _WRITE)
        except (Conflict, NotFound):
            if self._parts.get(name) is role:
                raise  # a webhook says no so: it is tried again, but not at once
            self.worker.add(name)  # it moved on while this was decided

    def _summed(self, name: str, wanted: AggregationRule) -> tuple[PolicyRule, ...]:
        """The rules of all roles that a selector fits, each once, in the order of their names."""
        rules: dict[PolicyRule, None] = {}
        for typed in wanted.cluster_role_selectors:
            selector = label_selectors.from_typed(typed)
            for part in sorted(self._parts):
                if part != name and selector.matches(self._parts[part].metadata.labels):
                    rules.update(_once(self._parts[part].rules))
        return tuple(rules)


def _once(rules: Iterable[PolicyRule]) -> dict[PolicyRule, None]:
    return dict.fromkeys(rules)

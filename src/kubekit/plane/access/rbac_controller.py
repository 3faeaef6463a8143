"""Access control of one plane: connects authorizer, escalation guard, reviews and aggregation."""

from collections.abc import Sequence

from kubekit.plane.access.access_reviews import virtual_handlers
from kubekit.plane.access.aggregation import Aggregator
from kubekit.plane.access.authorizer import Authorizer
from kubekit.plane.access.bootstrap import Wanted, ensure_defaults
from kubekit.plane.access.escalation import EscalationGuard
from kubekit.plane.registry.background.keyed_worker import KeyedWorker
from kubekit.plane.registry.registry import Registry


class RbacController:
    """Authorizes, prevents escalation, answers reviews, aggregates roles. `start` and `close` it."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self.authorizer = Authorizer(registry.store)
        self._aggregator = Aggregator(registry.store, registry)
        registry.admission.validating.append(EscalationGuard(self.authorizer))
        registry.virtual_handlers.update(virtual_handlers(self.authorizer))

    @property
    def worker(self) -> KeyedWorker[str]:
        """The background work, which is closed with the plane's other workers."""
        return self._aggregator.worker

    async def start(self, more: Sequence[Wanted] = ()) -> None:
        """Create the default roles and ``more``, and keep aggregated roles up to date."""
        self._aggregator.start()
        await ensure_defaults(self._registry, more)

    def close(self) -> None:
        """Stop watching the store."""
        self.authorizer.close()

"""The number of reconcile passes of each controller of a world, by result."""

from collections import Counter
from collections.abc import Mapping
from typing import Final

from kubekit.runtime.reporting.metrics import Metrics

_PASSES: Final = "controller_runtime_reconcile"
_TROUBLES: Final = {  # passes that came to nothing, or were put off
    "compute_runtime_own_write_waits": "waited for its own write",
    "compute_runtime_fights": "paused in a write conflict loop",
    "controller_runtime_reconcile_timeouts": "took too long",
}


def passes(managers: Mapping[str, Metrics]) -> Counter[str]:
    """Passes since the start, by controller and result, over all managers that run one."""
    found: Counter[str] = Counter()
    for metrics in managers.values():
        for family in metrics.registry.collect():
            if family.name != _PASSES and family.name not in _TROUBLES:
                continue
            for sample in family.samples:
                how = _TROUBLES.get(family.name) or sample.labels["result"]
                found[f"{sample.labels['controller']}: {how}"] += int(sample.value)
    return found

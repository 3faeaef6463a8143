"""The order of a list of workloads."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from compute.cli.look.workload.workload_list_run import sorted_views
from compute.decide.health import HealthStatus
from compute.views.workloads import workload_view
from tests.support.compute.builders import NOW, workload

HEALTHY = replace(
    workload_view(workload("b"), (), (), NOW), health=HealthStatus.AVAILABLE, desired=2
)
VIEWS = (
    replace(HEALTHY, name="c", ready=2, created_at=NOW),
    replace(
        HEALTHY, name="b", ready=1, created_at=NOW + timedelta(days=1), health=HealthStatus.DEGRADED
    ),
    replace(HEALTHY, name="a", ready=0, desired=0, created_at=None),
)


@pytest.mark.parametrize(
    ("order", "names"), [("name", "abc"), ("health", "bac"), ("age", "bca"), ("ready", "bac")]
)
def test_the_order_of_a_list(order, names):
    """The worst health, the newest, or the least ready first; what is equal by name."""
    assert "".join(view.name for view in sorted_views(VIEWS, order)) == names

"""When a deployment has nothing left to do."""

import pytest

from compute.controllers.cell.deployment.deployment_plan import plan_deployment
from compute.decide.deployment.template import build_instance
from kubekit.api.meta import with_metadata
from tests.support.compute.builders import NOW, deployment


def there(*, going=False):
    """The Instance in the first slot."""
    made = build_instance(deployment(1), 0, ())
    when = NOW if going else None
    return with_metadata(made, uid="uid-0", deletion_timestamp=when)


@pytest.mark.parametrize(
    ("replicas", "instances", "expected"),
    [
        pytest.param(1, [there()], True, id="it is starting"),
        pytest.param(0, [], True, id="none is wanted"),
        pytest.param(1, [], False, id="one is missing"),
        pytest.param(0, [there()], False, id="one is too many"),
        pytest.param(1, [there(going=True)], False, id="one is about to go"),
        pytest.param(2, [there()], False, id="the next waits for its turn"),
    ],
)
def test_a_deployment_is_settled_when_nothing_is_left_to_do(replicas, instances, expected):
    """Then a change of an Instance changes only the counts in the status."""
    assert plan_deployment(deployment(replicas), instances, None, NOW).settled is expected

"""Events report Instances that come into trouble."""

import pytest

from tests.support.compute.builders import condition
from tests.support.compute.management_builders import WEB, ManagementWorld, set_up

FIRST = f"{WEB}-0"
READY = condition("Ready", "True", "Available")
WAITING = condition("Ready", "False", "Provisioning", "it is being set up")


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("Ready", "ImageUnavailable"),
        ("Ready", "InstanceCrashing"),
        ("Ready", "ConfigurationError"),
        ("Ready", "NetworkFailedToCreate"),
        ("QuotaGranted", "QuotaNoBudget"),
        ("QuotaGranted", "QuotaExceeded"),
    ],
)
def test_trouble_is_reported_when_it_starts(tmp_path, kind, reason):
    """Once per trouble, however often it is reported."""
    trouble = condition(kind, "False", reason, "why")
    later = condition(kind, "False", reason, "why, in other words")
    federated = (WEB, "Normal", "Federated")

    async def story(on: ManagementWorld) -> None:
        await on.show_one(WAITING)
        await on.reported(federated)
        await on.write_back(0, trouble)
        await on.shown(trouble)
        await on.reported(federated, (FIRST, "Warning", reason))
        await on.write_back(0, later)
        await on.shown(later)
        await on.stage.rest()

        await on.reported(federated, (FIRST, "Warning", reason))

    set_up(tmp_path, story)


def test_one_cause_in_two_conditions_is_reported_once(tmp_path):
    """Ready repeats the reason of QuotaGranted; one event is enough, with the message of Ready."""
    quota = condition("QuotaGranted", "False", "QuotaExceeded", "as quota puts it")
    ready = condition("Ready", "False", "QuotaExceeded", "as Ready puts it")

    async def story(on: ManagementWorld) -> None:
        await on.show_one(ready, quota)

        await on.reported((WEB, "Normal", "Federated"), (FIRST, "Warning", "QuotaExceeded"))

    set_up(tmp_path, story)

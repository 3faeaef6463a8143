"""What a deletion waits for, and how the wait ends."""

import asyncio
from contextlib import suppress
from datetime import timedelta

import pytest

from compute.api.compute import Instance, Workload, WorkloadDeployment
from compute.app.system_environment import system
from compute.cli.deploy.deletion.destroy_wait import _gone_in_time, _left
from compute.cli.exits import Exit, Failure
from compute.views.live import LiveObjects
from kubekit.api.errors import Unavailable
from kubekit.api.meta import Object
from tests.support.compute.builders import deployment, instance, workload

UIDS = frozenset({"uid-web", "uid-edge"})


def live(*objects: Object) -> LiveObjects:
    """These objects, listed."""
    kinds: tuple[type[Object], ...] = (Workload, WorkloadDeployment, Instance)
    made = LiveObjects(system(), kinds)
    for kind in kinds:
        made._replace(kind, {o.metadata.name: o for o in objects if isinstance(o, kind)})
    return made


@pytest.mark.parametrize(
    ("objects", "text"),
    [
        ((workload(), deployment(), instance(0), instance(1)), "2 instances in DFW"),
        ((workload(), deployment()), "the last of what ran in DFW"),
        ((workload(),), "workload web itself"),
        ((workload(), workload("edge")), "workloads edge,web themselves"),
    ],
)
def test_what_is_left_is_said(objects, text):
    """From the instances to the workload itself."""
    assert str(_left(live(*objects), UIDS)) == text


def test_another_workload_is_nothing_of_it():
    """One of the same name may have been created meanwhile."""
    assert _left(live(workload("other")), UIDS) is None


def late(objects: LiveObjects) -> Failure:
    with pytest.raises(Failure) as error:
        asyncio.run(_gone_in_time(objects, UIDS, "web", timedelta(milliseconds=1)))
    return error.value


def test_the_time_is_over():
    """It says what is left, and how to look again."""
    failure = late(live(workload(), instance(0)))

    assert str(failure) == (
        "the time is over and not all is gone: 1 instance in DFW left; the deletion goes on"
    )
    assert (failure.code, failure.city) == (Exit.TIMED_OUT, "DFW")
    assert failure.next_step == "compute wait web --for deleted"


def test_a_lost_server_is_another_end():
    """What is left is not known then."""
    lost = live(workload())
    lost._report(Workload, Unavailable("gone"))
    failure = late(lost)

    assert str(failure) == "the server cannot be reached any more; the deletion goes on"
    assert failure.code == Exit.UNKNOWN


def test_nothing_left_ends_the_wait():
    """At once."""
    with suppress(Failure):
        asyncio.run(_gone_in_time(live(), UIDS, "web", timedelta(seconds=30)))

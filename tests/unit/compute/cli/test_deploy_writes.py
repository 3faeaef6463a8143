"""The order of the writes of a deploy, and what is said when one of them does not end."""

import asyncio
from functools import partial
from typing import Any

import pytest

from compute.api.networking import Network
from compute.cli.change.planned_changes import PlannedChange
from compute.cli.deploy.deploy_writes import written_objects
from compute.cli.deploy.planning import DeployPlan
from compute.cli.exits import Failure
from compute.views.deploy_plans import deploy_plan_view
from kubekit.api.errors import Forbidden
from kubekit.api.kinds.core import ConfigMap, Namespace
from kubekit.api.meta import Object, ObjectMeta
from tests.unit.compute.cli.test_deploy_writing import FakeClient, session


class Refusing(FakeClient):
    """A server that does not take one kind."""

    def __init__(self, kind: type[Object], error: BaseException) -> None:
        super().__init__(None)
        self._kind = kind
        self._error = error

    async def create(self, obj: Any, options: Any = None) -> Any:
        if isinstance(obj, self._kind):
            raise self._error
        return await super().create(obj, options)


def plan(*wanted: Object, missing: tuple[tuple[str, str], ...] = ()) -> DeployPlan:
    changes = tuple(PlannedChange(None, each, partial(_same, each)) for each in wanted)
    view = deploy_plan_view([(None, each) for each in wanted], {}, [name for _, name in missing])
    return DeployPlan(changes, missing, view)


def _same(wanted: Object, _: Object | None) -> Object:
    return wanted


def meta(name: str) -> ObjectMeta:
    return ObjectMeta(name=name, namespace="team")


TEAM = Namespace(metadata=ObjectMeta(name="team"))
SETTINGS = ConfigMap(metadata=meta("settings"))


def write(client: FakeClient, planned: DeployPlan) -> None:
    asyncio.run(written_objects(session(client), planned, quiet=False))


def test_a_network_follows_the_namespace_that_it_is_in(capsys: pytest.CaptureFixture[str]):
    """A network in a namespace that does not exist is refused."""
    client = FakeClient(None)
    write(client, plan(TEAM, SETTINGS, missing=(("team", "lab"),)))

    assert [type(each) for each in client.written] == [Namespace, Network, ConfigMap]
    assert capsys.readouterr().err == (
        "namespace/team created\nnetwork/lab created\nconfigmap/settings created\n"
    )


def test_a_refusal_names_what_is_written_before_it():
    """Its code and the next command stay."""
    refused = Forbidden("configmaps is forbidden")
    with pytest.raises(Failure) as error:
        write(Refusing(ConfigMap, refused), plan(TEAM, SETTINGS, missing=(("team", "lab"),)))

    assert str(error.value) == (
        "configmap/settings: no permission in project demo: configmaps is forbidden; written before "
        "it, and not undone: namespace/team, network/lab"
    )
    assert error.value.next_step == "compute config view"


def test_a_refusal_of_the_only_object():
    """It needs no name."""
    with pytest.raises(Failure) as error:
        write(Refusing(ConfigMap, Forbidden("no")), plan(SETTINGS))

    assert str(error.value) == "no permission in project demo: no"


def test_an_interrupted_write(capsys: pytest.CaptureFixture[str]):
    """Whether the server has it already cannot be seen."""
    with pytest.raises(asyncio.CancelledError):
        write(Refusing(ConfigMap, asyncio.CancelledError()), plan(TEAM, SETTINGS))

    assert capsys.readouterr().err == (
        "namespace/team created\n\nIt is not known whether configmap/settings was written; written "
        "before it, and not undone: namespace/team.\n"
    )

"""The warning of a deploy that needs ConfigMaps and Secrets which do not exist."""

import asyncio
from typing import Any

from compute.app.system_environment import system
from compute.cli.change.planned_changes import PlannedChange
from compute.cli.deploy.missing_values import missing_values
from compute.cli.shell.session import Session
from compute.cli.target.chosen import Target, TargetRule
from kubekit.api.errors import Forbidden, not_found
from kubekit.api.kinds.core import ConfigMap, Secret
from kubekit.api.meta import Object, ObjectMeta
from kubekit.client.client import Client
from kubekit.client.connection import Anonymous, Connection
from tests.support.compute.builders import workload
from tests.support.compute.store_builders import files, using, variable

WEB = workload("web", template=using(files("pages"), files("certificate", secret=True)))
PAGES = ConfigMap(metadata=ObjectMeta(name="pages", namespace="default"))


class FakeStores(Client):
    """A server with these objects. It lets no one read Secrets without ``secrets``."""

    def __init__(self, *stored: Object, secrets: bool = True) -> None:
        self.stored, self.secrets = stored, secrets

    async def get(self, kind: type[Any], name: str, namespace: str = "") -> Any:
        if kind is Secret and not self.secrets:
            raise Forbidden("secrets is forbidden")
        for each in self.stored:
            if isinstance(each, kind) and each.metadata.name == name:
                return each
        raise not_found(kind.RESOURCE, name)


def warnings(client: Client, *wanted: Object, existing: Object | None = None) -> tuple[str, ...]:
    target = Target(
        connection=Connection(server="https://test", credentials=Anonymous()),
        project="demo", namespace="default", rule=TargetRule.FLAGS, detail="",
    )  # fmt: skip
    changes = [PlannedChange(existing, each, lambda newest: newest or WEB) for each in wanted]
    return asyncio.run(missing_values(Session(target, client, system()), changes))


def test_what_is_missing_is_named_with_what_creates_it():
    """Otherwise the first to notice is the program in its container."""
    assert warnings(FakeStores(), WEB) == (
        "ConfigMap pages does not exist yet. Create it with: compute configmaps set pages KEY=VALUE",
        "Secret certificate does not exist yet. "
        "Create it with: compute secrets set certificate KEY=VALUE",
    )


def test_what_several_workloads_need_is_named_once():
    """Also if one of them needs it twice."""
    api = workload("api", template=using(variable("pages", "A"), variable("pages", "B")))

    assert len(warnings(FakeStores(), WEB, api)) == 2


def test_what_exists_or_is_created_with_it_is_not_missing():
    """On the server, or in the same files; and a workload that stays as it is is no matter here."""
    secret = Secret(metadata=ObjectMeta(name="certificate", namespace="default"))

    assert warnings(FakeStores(secret), WEB, PAGES) == ()
    assert warnings(FakeStores(), WEB, existing=WEB) == ()


def test_what_may_not_be_read_is_not_called_missing():
    """The user may lack the right to read Secrets."""
    assert warnings(FakeStores(PAGES, secrets=False), WEB) == ()

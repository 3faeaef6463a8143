"""Conditions of webhooks: expressions that say whether to ask."""

from typing import Any

import pytest

from kubekit.api.errors import ApiError, Forbidden
from tests.support.kubekit.admission_builders import (
    VALIDATING,
    Document,
    Server,
    World,
    hook,
    scenario,
)


def conditions(*expressions: str) -> list[Document]:
    return [{"name": f"c{n}", "expression": each} for n, each in enumerate(expressions)]


async def is_asked(there: World, server: Server, **said: Any) -> bool:
    waiting = there.webhooks.validate(there.attempt(**said))
    if waiting is not None:
        await waiting
    return bool(server.reviews)


CASES = [
    (["true"], {}, True),
    (["false"], {}, False),
    (["true", "false"], {}, False),
    (["object.metadata.name == 'one'"], {}, True),
    (["has(object.data) && object.data['a'] == 'b'"], {"content": {"data": {"a": "b"}}}, True),
    (["oldObject == null"], {}, True),
    (
        ["oldObject != null && object.metadata.name == oldObject.metadata.name"],
        {"verb": "update"},
        True,
    ),
    (["object == null"], {"verb": "delete"}, True),
    (["request.operation == 'CREATE' && request.namespace == 'room'"], {}, True),
    (["request.userInfo.username == 'ann' && 'builders' in request.userInfo.groups"], {}, True),
    (["request.resource.resource == 'secrets'"], {}, False),
    (["!request.dryRun"], {}, True),
    (["object.nope == 1", "false"], {}, False),
]


@pytest.mark.parametrize(("expressions", "said", "called"), CASES, ids=[str(c[0]) for c in CASES])
@scenario
async def test_all_conditions_must_hold(
    there: World, server: Server, *, expressions: list[str], said: Document, called: bool
):
    """They see the object, what it was, and the request. One that is false decides the matter."""
    client = server.on("x", lambda _: {})
    await there.configure(VALIDATING, "v", hook(client, matchConditions=conditions(*expressions)))
    assert await is_asked(there, server, **said) is called


@pytest.mark.parametrize("policy", ["Fail", "Ignore"])
@scenario
async def test_w1_a_condition_that_cannot_be_evaluated(
    there: World, server: Server, *, policy: str
):
    """It refuses the change unless failures do not matter; then the webhook is let be."""
    client = server.on("x", lambda _: {})
    odd = hook(client, matchConditions=conditions("object.nope == 1"), failurePolicy=policy)
    await there.configure(VALIDATING, "v", odd)
    if policy == "Ignore":
        assert not await is_asked(there, server)
        return
    with pytest.raises(Forbidden) as refusal:
        await is_asked(there, server)
    assert refusal.value.message == (
        "configmaps \"one\" is forbidden: expression 'object.nope == 1' resulted in error: "
        "no such key: nope"
    )


@scenario
async def test_w1_a_condition_has_a_budget(there: World, server: Server):
    """An endless one is aborted, and the change is refused."""
    client = server.on("x", lambda _: {})
    endless = "object.data.all(a, object.data.all(b, object.data.all(c, object.data.all(d, a < b + c + d + 'z'))))"
    await there.configure(VALIDATING, "v", hook(client, matchConditions=conditions(endless)))
    data = {str(number): "x" for number in range(200)}
    with pytest.raises(ApiError):
        await is_asked(there, server, content={"data": data})

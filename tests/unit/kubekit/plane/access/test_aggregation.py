"""ClusterRoles that are the sum of others."""

import asyncio

from kubekit.api.errors import Conflict
from kubekit.plane.registry.admission import Attempt
from tests.support.kubekit.access_builders import rule, scenario

READ, WRITE = rule("get", "pods"), rule("update", "pods")
LABELLED = {"metadata": {"labels": {"sum": "yes"}}}


def total(**labels):
    return {"aggregationRule": {"clusterRoleSelectors": [{"matchLabels": labels}]}}


async def rules(world, name):
    await world.keeper.worker.rest()
    return world.get("ClusterRole", "", name)["rules"]


async def started(world):
    await world.keeper.start()


@scenario
async def test_a_sum_has_the_rules_of_its_parts(world):
    """Each rule once, by the names of the roles; rules that a user writes into it are lost."""
    await started(world)
    await world.role("total", rule("fly", "pods"), namespace="", **total(sum="yes"))
    await world.role("b", READ, WRITE, namespace="", **LABELLED)
    await world.role("a", WRITE, namespace="", **LABELLED)
    await world.role("other", rule("get", "nodes"), namespace="")

    assert await rules(world, "total") == [WRITE, READ]


@scenario
async def test_a_sum_follows_its_parts(world):
    """A part may come, change, lose its label and go."""
    await started(world)
    await world.role("part", READ, namespace="", **LABELLED)
    await world.role("total", namespace="", **total(sum="yes"))
    assert await rules(world, "total") == [READ]

    await world.patch("ClusterRole", "", "part", {"rules": [WRITE]})
    assert await rules(world, "total") == [WRITE]
    await world.patch("ClusterRole", "", "part", {"metadata": {"labels": {"sum": None}}})
    assert await rules(world, "total") is None
    await world.patch("ClusterRole", "", "part", LABELLED)
    assert await rules(world, "total") == [WRITE]
    await world.delete("ClusterRole", "", "part")
    assert await rules(world, "total") is None


@scenario
async def test_sums_of_sums_come_to_rest(world):
    """Even where each is a part of the other: then both have all rules."""
    await started(world)
    for name, other, own in (("one", "two", READ), ("two", "one", WRITE)):
        labels = {"metadata": {"labels": {"part-of": other}}}
        await world.role(name, namespace="", **total(**{"part-of": name}), **labels)
        await world.role(f"of-{name}", own, namespace="", metadata={"labels": {"part-of": name}})

    both = [await rules(world, name) for name in ("one", "two")]
    assert sorted(map(str, both[0])) == sorted(map(str, both[1])) == sorted(map(str, (READ, WRITE)))


@scenario
async def test_a_role_that_is_no_sum_any_more_is_left_alone(world):
    """Its rules are then what users write."""
    await started(world)
    await world.role("total", namespace="", **total(sum="yes"))
    await world.role("part", READ, namespace="", **LABELLED)
    await world.keeper.worker.rest()
    await world.patch("ClusterRole", "", "total", {"aggregationRule": None, "rules": [WRITE]})

    assert await rules(world, "total") == [WRITE]


@scenario
async def test_what_is_there_at_the_start_is_summed_up(world):
    """A plane may have stopped before it came to it."""
    await world.role("part", READ, namespace="", **LABELLED)
    await world.role("total", namespace="", **total(sum="yes"))
    assert await rules(world, "total") is None
    await started(world)

    assert await rules(world, "total") == [READ]


@scenario
async def test_a_deleted_sum_is_forgotten(world):
    """A deleted role is not created again."""
    await started(world)
    await world.role("total", namespace="", **total(sum="yes"))
    await world.delete("ClusterRole", "", "total")
    await world.role("part", READ, namespace="", **LABELLED)
    await world.keeper.worker.rest()

    assert world.keeper.worker.idle


@scenario
async def test_w1_a_refusal_is_not_taken_for_a_role_that_moved_on(world):
    """An admission plugin may refuse with any reason: the update is retried later, and not at once."""
    await started(world)
    asked: list[float] = []

    def refuse(attempt: Attempt) -> None:
        if attempt.verb == "update" and attempt.name == "total":
            asked.append(asyncio.get_running_loop().time())
            if len(asked) < 4:
                raise Conflict("not now")

    await world.role("total", namespace="", **total(sum="yes"))
    world.registry.admission.validating.append(refuse)
    await world.role("part", READ, namespace="", **LABELLED)
    assert await rules(world, "total") == [READ]
    assert asked[-1] - asked[0] > 0.1

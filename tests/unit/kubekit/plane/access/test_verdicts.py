"""The recorded verdicts of a real kube-apiserver (v1.34), which `verdicts` collected."""

import json
from pathlib import Path

from kubekit.plane.access.attributes import Attributes
from kubekit.plane.users import User
from tests.support.kubekit.access_builders import scenario

CASES = json.loads(Path(__file__).with_name("verdicts.json").read_text(encoding="utf-8"))
SPACE = "default"


async def make(world, case):
    name, kind = case["name"], case["role"]
    namespace = SPACE if kind == "Role" else ""
    await world.role(name, *case["rules"], namespace=namespace)
    await world.bind(name, f"{kind}/{name}", case["subject"], namespace=case["namespace"])


def decided(world, question):
    who = User(question["user"], tuple(question.get("groups", ())))
    said = question.get("resourceAttributes") or question["nonResourceAttributes"]
    return world.access.decide(who, Attributes(**said)).allowed


@scenario
async def test_a5_verdicts_are_those_of_kubernetes(world):
    """Roles, bindings and questions by chance: each is decided as Kubernetes decided it."""
    await world.namespace(SPACE)
    for case in CASES:
        await make(world, case)
    different = [
        (case["name"], question)
        for case in CASES
        for question in case["asked"]
        if decided(world, question) is not question["allowed"]
    ]

    assert different == []


def test_a5_the_table_says_something():
    """A table of refusals alone, or of few questions, would prove little."""
    verdicts = [question["allowed"] for case in CASES for question in case["asked"]]

    assert len(verdicts) >= 500
    assert 0.2 < sum(verdicts) / len(verdicts) < 0.8

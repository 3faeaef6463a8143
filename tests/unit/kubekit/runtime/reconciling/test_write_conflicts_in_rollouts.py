"""What a rollout writes is no fight, however often it is rolled out."""

import pytest

from kubekit.api.kinds.core import ConfigMap
from kubekit.runtime.reconciling.write_conflicts import WriteConflictLoop
from tests.support.kubekit.runtime_builders import RuntimeWorld, annotated, config, run_story
from tests.unit.kubekit.runtime.reconciling.test_recording_client import begin
from tests.unit.kubekit.runtime.reconciling.test_write_conflicts import STATUS, WEB, write_conflicts

FINALIZERS = (("metadata", "finalizers"),)


def test_each_object_of_a_name_is_written_for_the_first_time(tmp_path):
    """An Instance that is replaced again and again gets the same writes as its predecessor."""

    async def story(world: RuntimeWorld) -> None:
        user = world.client()
        begin(world.projects, limit=3)
        for _ in range(10):
            made = await user.create(config("one"))
            await world.writer().patch(made, annotated(made, a="1"))
            await user.delete(await user.get(ConfigMap, "one", "default"))

    run_story(tmp_path, story)


def test_what_is_said_again_of_the_same_object_is_still_a_fight(tmp_path):
    """Another writer undoes it each time, without creating the object again."""

    async def story(world: RuntimeWorld) -> None:
        user = world.client()
        begin(world.projects, limit=3)
        present = await user.create(config("one"))
        for _ in range(4):
            written = await world.writer().patch(present, annotated(present, a="1"))
            present = await user.patch(written, annotated(written, a="2"))
        with pytest.raises(WriteConflictLoop):
            await world.writer().patch(present, annotated(present, a="1"))

    run_story(tmp_path, story)


def test_a_finalizer_among_statuses_makes_no_fight_of_them():
    """A deployment that was just made is held once, and tells of every step of its rollouts."""
    breaker = write_conflicts(limit=3)
    assert breaker.wrote(WEB, FINALIZERS, 0.0) is None
    messages = [breaker.wrote(WEB, STATUS, now / 10, content=now % 2) for now in range(200)]
    assert messages == [None] * 200


def test_a_finalizer_that_comes_back_among_statuses_is_a_fight():
    """Statuses that are well hide nothing else that is undone."""
    breaker = write_conflicts(limit=3)
    messages = []
    for now in range(8):
        messages.append(breaker.wrote(WEB, STATUS, now / 10, content=now % 2))
        messages.append(breaker.wrote(WEB, FINALIZERS, now / 10))
    assert any(messages)

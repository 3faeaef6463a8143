"""The scenarios in files, in a world of one process; tests/e2e/federation plays them on real planes."""

import pytest

from tests.integration.worlds import Watched, run_story
from tests.support.compute import scenarios
from tests.support.compute.scenarios import Scenario


@pytest.mark.parametrize("name", [file.stem for file in scenarios.FOLDER.glob("*.yaml")])
def test_a_scenario(name):
    """Every step does what the file expects of it."""
    scenario = Scenario.read(name)

    async def story(world: Watched) -> None:
        await scenarios.play(world, scenario)

    run_story(story, scenario.cities)

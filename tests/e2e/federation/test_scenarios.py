"""The scenarios in files, on real planes with Karmada; tests/integration plays them in one process."""

import pytest

from tests.e2e.federation.real_stage import PlatformStage
from tests.support.compute import scenarios
from tests.support.compute.scenarios import Scenario

pytestmark = [pytest.mark.stack, pytest.mark.e2e, pytest.mark.slow, pytest.mark.long]


@pytest.mark.parametrize("name", [file.stem for file in scenarios.FOLDER.glob("*.yaml")])
def test_a_scenario(play, name):
    """Every step does what the file expects of it."""
    scenario = Scenario.read(name)

    async def story(stage: PlatformStage) -> None:
        await scenarios.play(stage, scenario)

    play(story)

"""Values that light modules repeat, because importing them would cost more than the whole help."""

from compute.app.world_timing import DEFAULT_TIMING, SHORTEST_CELL_TIMEOUT
from compute.cli.local import up
from compute.cli.operate import config_settings
from compute.cli.shell.parameters import DURATION
from compute.cli.target import settings


def test_the_defaults_of_up_are_those_of_the_world():
    """A user who names no duration gets what a world does by itself."""
    given = {
        p.name: DURATION.convert(p.default, None, None)
        for p in up.command.params
        if p.type is DURATION
    }

    assert given == {
        "city_grace": DEFAULT_TIMING.grace.withdrawal,
        "replacement_grace": DEFAULT_TIMING.grace.replacement,
        "cell_timeout": DEFAULT_TIMING.cell_timeout,
    }
    assert up._SHORTEST_TIMEOUT == SHORTEST_CELL_TIMEOUT


def test_each_key_of_the_settings_can_be_set():
    """No more, and no less."""
    assert config_settings.KEYS == settings.KEYS == settings.UserSettings.__struct_fields__

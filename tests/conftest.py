"""Settings for every test."""

import gc
import signal

import pytest
from hypothesis import settings

from tests.support.generated import depth

pytest_plugins = ["tests.peers.plugin"]

# Machines are noisy: how long an example takes proves nothing. The order of examples is drawn from
# the test's own seed, which pytest-randomly prints, so that a failure can be run again.
settings.register_profile(
    "default", deadline=None, print_blob=True, max_examples=depth.examples(100)
)
settings.load_profile("default")

# A shell has Ctrl-C ignored by what it starts in the background, and so does whatever that starts. A
# command that a test interrupts would then never end.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long tests first: one that begins last keeps everything else waiting."""
    items.sort(key=lambda item: item.get_closest_marker("long") is None)


def pytest_collection_finish() -> None:
    """Have the garbage collector leave alone what was collected here: it took a quarter of the time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 10, 10)

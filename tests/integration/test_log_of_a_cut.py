"""What the log of a world says of a cell that is cut off."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from tests.integration.test_cells import cut
from tests.integration.worlds import Watched, run_story, with_replicas, workload


class Kept(logging.Handler):
    """A handler that keeps what it is given."""

    def __init__(self, level: int) -> None:
        super().__init__(level)
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)


@contextmanager
def records(level: int) -> Iterator[list[logging.LogRecord]]:
    """What is logged from this level on."""
    handler = Kept(level)
    root, before = logging.getLogger(), logging.getLogger().level
    root.addHandler(handler)
    root.setLevel(level)
    try:
        yield handler.records
    finally:
        root.removeHandler(handler)
        root.setLevel(before)


def test_a_cut_and_its_end_are_one_line_each():
    """What fails because of it meanwhile is repeated at debug alone, and counted."""

    async def story(world: Watched) -> None:
        await world.deploy(workload(cities=("DFW", "LHR"), replicas=2))
        await world.quiet(2.0)  # no watch has just started
        with records(logging.INFO) as kept:
            await cut(world, "dfw")
            await world.quiet(30.0)
            await world.change("web", with_replicas(3))
            await world.quiet(300.0)
            await cut(world, "dfw", "false")
            await world.served("web")
        lines = [r for r in kept if r.levelno >= logging.WARNING or "dfw is" in r.getMessage()]
        assert [r.getMessage() for r in lines] == ["cell dfw is cut off", "cell dfw is back"]
        assert 329 < lines[1].__dict__["seconds"] < 332
        assert lines[1].__dict__["refused"] > 10
        assert not [r for r in kept if r.name.endswith("informer")]

    run_story(story, cities=("DFW", "LHR"))

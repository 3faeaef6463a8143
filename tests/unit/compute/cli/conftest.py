"""What all unit tests of the command line need."""

from collections.abc import Iterator

import pytest

from compute.cli import invocation


@pytest.fixture(autouse=True)
def _forget_flags() -> Iterator[None]:
    """A process runs one command, and a test several: none repeats the flags of another."""
    invocation.forget_flags()
    yield
    invocation.forget_flags()

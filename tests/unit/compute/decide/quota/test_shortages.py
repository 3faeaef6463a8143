"""One sentence for quota that does not suffice."""

import pytest

from compute.api.quota import ResourceRequest
from compute.decide.quota import INSTANCES, MEMORY, VCPUS, shortages


@pytest.mark.parametrize(
    ("kind", "numbers", "line"),
    [
        (INSTANCES, (1, 0, 4), "instances: 1 asked for, 0 of 4 left"),
        (VCPUS, (2500, 500, 4000), "vcpus: 2.5 asked for, 0.5 of 4 left"),
        (MEMORY, (2048, 0, 1024), "memory: 2048 MiB asked for, 0 of 1024 MiB left"),
        ("example.com/seats", (3, 1, 2), "seats: 3 asked for, 1 of 2 left"),
    ],
)
def test_a_shortage_is_shown_in_the_units_that_people_know(kind, numbers, line):
    """Millicores are counted, cores are shown; what is not known is shown as it is counted."""
    amount, left, limit = numbers
    request = ResourceRequest(resource_type=kind, amount=amount)

    assert shortages.line_with_rest(request, left, limit) == line
    assert shortages.line(request) == line.partition(",")[0]


def test_the_sentence_names_all_that_is_short_and_what_to_do():
    """It is whole by itself, since it is shown within other messages."""
    assert shortages.sentence(["instances: 1 asked for", "vcpus: 1 asked for"]) == (
        "Not enough quota: instances: 1 asked for; vcpus: 1 asked for. "
        "Scale down, delete something, or ask for more quota"
    )

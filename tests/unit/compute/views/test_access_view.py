"""Access as people read it."""

import pytest

from compute.decide.access_state import AccessState, ProjectAccess
from compute.views.project.access import access_view


@pytest.mark.parametrize("state", AccessState)
def test_every_state_has_a_meaning_and_one_command(state):
    """Only an active project needs none."""
    view = access_view(ProjectAccess(state=state, message="two\n lines"), "shop")

    assert view.meaning.endswith(".")
    assert bool(view.next) == (state is not AccessState.ACTIVE)
    assert view.message == "two lines"


def test_a_cluster_without_projects_needs_no_access():
    """There is no command to type either."""
    view = access_view(ProjectAccess(state=AccessState.CATALOG_UNAVAILABLE), "")

    assert view.meaning == "The server has no catalog of services: no access is needed."
    assert view.next == ""


def test_a_suspended_project_says_what_that_means():
    """Its access stays active."""
    view = access_view(ProjectAccess(state=AccessState.ACTIVE, suspended=True), "shop")

    assert "nothing of it runs" in view.suspension
    assert access_view(ProjectAccess(state=AccessState.ACTIVE), "shop").suspension == ""

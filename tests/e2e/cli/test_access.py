"""Access to compute: where an operator approves requests, from the first request to a revocation."""

from collections.abc import Iterator

import msgspec
import pytest

from compute.api import annotations
from compute.api.resource_manager import Project
from compute.api.services import ServiceEntitlement
from compute.app.planes import PLATFORM
from compute.app.system_environment import system
from compute.decide.access_state import project_access
from compute.views.live import live_objects
from kubekit.api.meta import with_status
from kubekit.client.client import Client
from tests.e2e.cli.conftest import Transcript, new_transcript
from tests.support.compute.builders import condition
from tests.support.compute.cli_runner import CommandLine
from tests.support.compute.cli_world import LIMIT, configure, in_plane, make_project

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

DEPLOY = ("deploy", "web", "--image=registry.example.test/web:1", "--city=DFW")


@pytest.fixture(scope="module")
def manual(world: CommandLine) -> Iterator[CommandLine]:
    """The world while requests are approved by hand. What is approved stays approved afterwards."""
    configure(world.data, "core", "entitlements", {"approval": "Manual"}, namespace=PLATFORM)
    try:
        yield world
    finally:
        configure(world.data, "core", "entitlements", None, namespace=PLATFORM)


@pytest.fixture
def gated(manual: CommandLine, name: str) -> CommandLine:
    """The command line in a project that has not requested access."""
    make_project(manual.data, name)
    return manual.of(COMPUTE_PROJECT=name)


@pytest.fixture
def story(gated: CommandLine, name: str, request: pytest.FixtureRequest) -> Iterator[Transcript]:
    """The transcript of a test in that project."""
    recorded = new_transcript(gated, request)
    recorded.replace[name] = "shop"
    yield recorded
    recorded.check()


def decide(compute: CommandLine, decision: str, why: str = "") -> None:
    """Approve or deny the request of the project, as an operator does."""
    marks = {annotations.APPROVAL: decision, annotations.APPROVAL_MESSAGE: why}

    async def annotate(project: Client) -> None:
        request = await project.get(ServiceEntitlement, "compute")
        meta = msgspec.structs.replace(request.metadata, annotations=marks)
        await project.patch(request, msgspec.structs.replace(request, metadata=meta))

    in_plane(compute.data, f"admin-project-{compute.variables['COMPUTE_PROJECT']}", annotate)


def test_access_from_the_request_to_the_approval(story, gated):
    """Each state says what it means and what to type next; a second request is as good as one."""
    assert story("access").code == 0
    assert story("access", "request", "--message", "For the shop").code == 12
    assert story("access", "status").code == 0
    assert story("access", "request").code == 12
    assert story("access", "request", "--wait", "--timeout=100ms").code == 12
    decide(gated, "Approved")
    assert story("access", "request", "--wait").code == 0
    assert story("access").code == 0
    story("access", "-o", "json")


def test_access_that_is_revoked_is_requested_again(story, gated):
    """The operator's reason is shown, and the one command that asks again."""
    gated("access", "request")
    decide(gated, "Approved")
    gated("access", "request", "--wait")
    decide(gated, "Denied", "The trial is over.")
    gated("access", "request", "--wait")  # until the denial is observed

    assert story("access").code == 0
    assert story("access", "request").code == 11
    assert story(*DEPLOY, "--yes").code == 11
    assert story("access", "request", "--renew").code == 12


def test_a_request_that_is_denied_ends_the_wait(story, gated):
    """With a code of its own, in JSON too."""
    gated("access", "request")
    decide(gated, "Denied", "Ask for the other project.")

    assert story("access", "request", "--wait").code == 11
    assert story("access", "-o", "yaml").code == 0
    assert story(*DEPLOY, "--yes", "-o", "json").code == 11


def test_without_a_terminal_a_deploy_requests_nothing(story):
    """A script gets a code of its own, and the command that requests access."""
    assert story(*DEPLOY, "--yes").code == 10
    assert story("access").code == 0


def test_a_request_that_waits_is_no_error_of_a_deploy(story, gated):
    """It is said calmly; a script that asked for JSON gets JSON."""
    gated("access", "request")

    assert story(*DEPLOY, "--yes").code == 12
    assert story(*DEPLOY, "--yes", "-o", "json").code == 12


def test_on_a_terminal_a_deploy_offers_to_request_access(gated):
    """No is an answer with a code of its own, and changes nothing."""
    with gated.terminal(*DEPLOY) as terminal:
        terminal.until(r"Would you like to request access\? \[y/N\]:")
        terminal.type("n\r")
        assert terminal.ended() == 9
    assert "Nothing was requested. `compute access request` does it later." in terminal.text()
    assert "NotRequested" in gated("access").stdout


def test_on_a_terminal_yes_requests_access(gated):
    """The request waits for the operator, so the deploy ends without an error."""
    with gated.terminal(*DEPLOY, columns=150) as terminal:
        terminal.until(r"Would you like to request access\? \[y/N\]:")
        terminal.type("y\r")
        assert terminal.ended() == 12
    screen = terminal.text()
    assert "Requesting access to compute for project" in screen
    assert "The operators of the platform have not decided yet." in screen
    assert "Error" not in screen
    assert "PendingApproval" in gated("access").stdout


def test_only_an_administrator_of_the_project_requests_access(gated, name):
    """An editor learns who can."""
    file = gated.home / f"{name}.kubeconfig"
    added = gated(
        "plane", "users", "add", name, f"--project={name}", "--role=editor", f"--out={file}"
    )
    assert added.code == 0, added

    done = gated("access", "request", f"--kubeconfig={file}")

    assert done.code == 1
    assert "an administrator of the project can request access" in done.stderr


def test_a_new_project_is_entitled_where_approval_is_automatic(transcript):
    """It needs no request, and another one changes nothing."""
    assert transcript("access").code == 0
    assert transcript("access", "request", "--wait").code == 0


def test_access_of_a_project_that_does_not_exist(transcript):
    """It is not taken for a platform without a catalog of services."""
    assert transcript("access", "--project=no-such-project").code == 7


def test_a_suspended_project_says_so(gated, story, name):
    """Reasons refer to `compute access` for it; the access itself stays active."""
    gated("access", "request")
    decide(gated, "Approved")

    async def suspend(core: Client) -> None:
        project = await core.get(Project, name)
        suspended = condition("Suspended", "True", "ProjectSuspended", since=system().now())
        conditions = (*project.status.conditions, suspended)
        await core.patch_status(project, with_status(project, conditions=conditions))

    in_plane(gated.data, "core", suspend)
    in_plane(gated.data, f"project-{name}", until_suspended)

    assert story("access").code == 0


async def until_suspended(project: Client) -> None:
    async with live_objects(project, system(), "", ServiceEntitlement) as live:
        while not project_access(live.all(ServiceEntitlement)).suspended:
            await live.changed(LIMIT)

"""`compute destroy`, on a running world."""

import pytest

from compute.api import names
from compute.api.compute import Workload
from kubekit.api.kinds.core import ConfigMap
from tests.support.compute.project_objects import create, in_plane, wanted

pytestmark = [pytest.mark.e2e, pytest.mark.slow]


def read(shop, kind, name):
    """The object, or None."""
    return in_plane(shop, lambda client: client.find(kind, name, "default"))


def running(shop, *named: str) -> None:
    """Create workloads, and wait until they run and their first revision is known."""
    for each in named:
        create(shop, wanted(each, "DFW", "LHR"))
    assert shop("wait", *named).code == 0


def test_several_at_once(shop_transcript, shop, name):
    """Those that exist are deleted; the one that does not decides on the code."""
    other = f"{name}-b"
    shop_transcript.replace[name] = "web"
    running(shop, name, other)

    assert shop_transcript("destroy", name, "nope", other, "-y").code == 7
    assert shop("wait", name, other, "--for", "deleted").code == 0
    assert shop_transcript("destroy", name, "-y").code == 7


def test_without_a_terminal_it_needs_a_yes(shop_transcript, shop, name):
    """The variable is for scripts of the original."""
    shop_transcript.replace[name] = "web"
    running(shop, name)

    assert shop_transcript("destroy", name).code == 2
    assert read(shop, Workload, name) is not None
    assert shop_transcript("delete", name, "-o", "name", COMPUTE_ASSUME_YES="1").code == 0
    assert shop("wait", name, "--for", "deleted").code == 0


def test_waiting_until_all_is_gone(shop, name):
    """Nothing of it is left when the command ends, and neither is its history."""
    running(shop, name)
    done = shop("rm", name, "-y", "--wait")

    assert done.code == 0, done
    assert done.stderr.startswith("Waiting: 2 instances in DFW, LHR.\n")
    assert done.stderr.endswith("All is gone.\n")
    assert read(shop, Workload, name) is None


def test_the_history_can_be_kept(shop, name):
    """A later workload of the name goes on with it."""
    running(shop, name)
    kept = shop("destroy", name, "-y", "--keep-history", "--wait")
    assert kept.stdout == f"workload/{name} deleted, its history is kept\n", kept
    history = read(shop, ConfigMap, names.history(name))
    assert history is not None
    assert history.metadata.owner_references == ()

    assert shop("deploy", name, "--image", "nginx:2", "--city", "DFW").code == 0
    history = read(shop, ConfigMap, names.history(name))
    assert history is not None
    assert set(history.data) == {"1", "2"}
    shop("destroy", name, "-y", "--wait")
    assert read(shop, ConfigMap, names.history(name)) is None


def test_a_question_on_a_terminal(shop, name):
    """The summary comes first, and Return alone means no."""
    running(shop, name)
    with shop.terminal("destroy", name) as no:
        no.until(rf"Delete workload {name} with 2 instances\? \[y/N\]:")
        assert "DFW,LHR" in no.text()
        no.type("\r")
        assert no.ended() == 0
        assert "Aborted: nothing was deleted." in no.text()
    assert read(shop, Workload, name) is not None
    with shop.terminal("destroy", name) as yes:
        yes.until(r"\[y/N\]:")
        yes.type("y\r")
        assert yes.ended() == 0
        assert f"workload/{name} deleted" in yes.text()
    assert shop("wait", name, "--for", "deleted").code == 0

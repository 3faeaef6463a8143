import pytest

from kubekit.plane.http import health
from tests.support.kubekit.described_kinds import with_plane

PAGES = ("livez", "readyz", "healthz")


def of_a_sound_plane(directory, path, query=""):
    """What the health page of a plane that works answers."""

    async def scenario(plane):
        return health.answer(plane.registry.store, path, query)

    return with_plane(directory, scenario)


def of_a_stopped_plane(directory, path, query=""):
    """What it answers once the store must be opened anew."""

    async def scenario(plane):
        await plane.registry.store.close()
        return health.answer(plane.registry.store, path, query)

    return with_plane(directory, scenario)


@pytest.mark.parametrize("path", ["/livez", "/readyz", "/healthz", "/livez/ping", "/readyz/store"])
def test_all_is_well(tmp_path, path):
    """A plane that works says ok and nothing else."""
    got = of_a_sound_plane(tmp_path, path)
    assert (got.status, got.body) == (200, b"ok")
    assert got.content_type.startswith("text/plain")


@pytest.mark.parametrize("page", PAGES)
def test_checks_are_listed_on_request(tmp_path, page):
    """Verbose names each check and the verdict."""
    got = of_a_sound_plane(tmp_path, f"/{page}", "verbose")
    assert got.body.decode() == f"[+]ping ok\n[+]store ok\n{page} check passed\n"


@pytest.mark.parametrize("page", PAGES)
def test_a_store_that_cannot_write_fails(tmp_path, page):
    """A failed check is named with its reason, asked for or not."""
    got = of_a_stopped_plane(tmp_path, f"/{page}")
    assert got.status == 500
    lines = got.body.decode().splitlines()
    assert lines[0] == "[+]ping ok"
    assert lines[1].startswith("[-]store failed: ")
    assert lines[2] == f"{page} check failed"


def test_one_check_alone(tmp_path):
    """A check can be asked for by itself, and does not suffer from the others."""
    assert of_a_stopped_plane(tmp_path, "/livez/ping").status == 200
    assert of_a_stopped_plane(tmp_path, "/livez/store").status == 500


def test_checks_can_be_left_out(tmp_path):
    """What is excluded counts as well, and is shown as excluded."""
    got = of_a_stopped_plane(tmp_path, "/readyz", "verbose=1&exclude=store")
    assert got.status == 200
    assert "[+]store excluded: ok" in got.body.decode()


@pytest.mark.parametrize("path", ["/livez/nope", "/nope", "/readyz/ping/more"])
def test_no_such_check(tmp_path, path):
    """A check that is not there has no page."""
    assert of_a_sound_plane(tmp_path, path) is None

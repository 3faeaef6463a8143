"""Clusters by kubeconfig files that come, change and go."""

import asyncio
import itertools
import os

import pytest
import yaml

from kubekit.plane.local import LocalClient
from kubekit.runtime.clusters import Clusters
from kubekit.runtime.providers.kubeconfigs import KubeconfigClusters
from kubekit.runtime.scope import Scope
from tests.support.kubekit.plane_worlds import environment, opened
from tests.support.kubekit.virtual_time import run

CLOCK = itertools.count(10**18)


def write(file, *contexts, server="https://127.0.0.1:1"):
    """A kubeconfig with these contexts, newer than what was there."""
    document = {
        "clusters": [{"name": "c", "cluster": {"server": server}}],
        "users": [{"name": "u", "user": {}}],
        "contexts": [{"name": n, "context": {"cluster": "c", "user": "u"}} for n in contexts],
    }
    file.write_text(yaml.safe_dump(document))
    written = next(CLOCK)
    os.utime(file, ns=(written, written))


def with_provider(directory, paths, story):
    async def scenario():
        async with opened(directory / "plane") as world:
            clusters, scope = Clusters("cell", environment()), Scope("test")
            provider = KubeconfigClusters(
                clusters, paths, lambda _: LocalClient(world.plane), environment()
            )
            assert provider.problems() == ["the kubeconfigs are not read yet"]
            scope.spawn(provider.run(), "kubeconfigs")
            await asyncio.sleep(1)
            try:
                await story(provider, lambda: [cluster.name for cluster in clusters])
            finally:
                await scope.close()
                await clusters.close()

    run(scenario())


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "kubeconfigs"
    made.mkdir()
    return made


def test_each_context_of_each_file_is_a_cluster(tmp_path, folder):
    """A folder with two files and three contexts gives three clusters."""
    write(folder / "one", "dfw", "lhr")
    write(folder / "two", "sin")

    async def story(provider, engaged):
        assert engaged() == ["dfw", "lhr", "sin"]
        assert provider.problems() == []

    with_provider(tmp_path, [folder], story)


def test_files_come_change_and_go(tmp_path, folder):
    """What is written is engaged at the next look, what is removed goes."""
    write(folder / "one", "dfw", "lhr")

    async def story(_, engaged):
        write(folder / "two", "sin")
        await asyncio.sleep(10)
        assert engaged() == ["dfw", "lhr", "sin"]
        write(folder / "one", "lhr")
        await asyncio.sleep(10)
        assert sorted(engaged()) == ["lhr", "sin"]
        (folder / "two").unlink()
        await asyncio.sleep(10)
        assert engaged() == ["lhr"]
        write(folder / "two", "sin")
        await asyncio.sleep(10)
        assert engaged() == ["lhr", "sin"]

    with_provider(tmp_path, [folder], story)


def test_a_file_that_was_not_touched_is_left_alone(tmp_path, folder):
    """A look that finds nothing new engages nothing anew."""
    write(folder / "one", "dfw")

    async def story(_, engaged):
        before = engaged()
        await asyncio.sleep(100)
        assert engaged() == before

    with_provider(tmp_path, [folder], story)


def test_a_broken_file_keeps_what_it_brought(tmp_path, folder):
    """A half-written file disengages nothing, and is reported as a problem until it is fixed."""
    write(folder / "one", "dfw", "lhr")

    async def story(provider, engaged):
        (folder / "one").write_text("clusters: [")
        await asyncio.sleep(10)
        assert engaged() == ["dfw", "lhr"]
        [problem] = provider.problems()
        assert str(folder / "one") in problem
        write(folder / "one", "lhr")
        await asyncio.sleep(10)
        assert engaged() == ["lhr"]
        assert provider.problems() == []

    with_provider(tmp_path, [folder], story)


def test_two_files_cannot_bring_the_same_cluster(tmp_path, folder):
    """The first file keeps it, and the problem of the second names the first."""
    write(folder / "one", "dfw")
    write(folder / "two", "dfw", "sin")

    async def story(provider, engaged):
        assert engaged() == ["dfw", "sin"]
        assert provider.problems() == [
            f"{folder / 'two'}: the context dfw is in {folder / 'one'} already"
        ]

    with_provider(tmp_path, [folder], story)


def test_a_file_that_is_not_there_is_named(tmp_path):
    """A file that was asked for by name and is missing is a problem, until it is written."""
    file = tmp_path / "config"

    async def story(provider, engaged):
        assert (engaged(), provider.problems()) == ([], [f"{file}: there is no such file"])
        write(file, "dfw")
        await asyncio.sleep(10)
        assert (engaged(), provider.problems()) == (["dfw"], [])

    with_provider(tmp_path, [file], story)

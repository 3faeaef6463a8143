"""An upgrade of every process, from the commit before this one."""

import io
import subprocess
import tarfile
from pathlib import Path

import pytest

from tests.e2e.federation.real_stage import PlatformStage
from tests.peers.deployed.kustomizations import ROOT
from tests.support.compute.user_stage import with_replicas

pytestmark = [pytest.mark.stack, pytest.mark.e2e, pytest.mark.slow, pytest.mark.long]

CITIES = ("DFW", "LHR")
NEEDED = ("src/compute/app/manager/manager_process.py", "config/components/provider-pods")


def previous_checkout(folder: Path) -> Path:
    """The commit before this one; without one that has a manager, this checkout itself."""
    command = ["git", "archive", "HEAD~1", "src", "config"]
    archive = subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
    if archive.returncode:
        return ROOT
    with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as files:
        files.extractall(folder, filter="data")
    return folder if all((folder / path).exists() for path in NEEDED) else ROOT


def test_an_upgrade_restarts_no_instance(play, tmp_path):
    """What the old processes started, the new ones keep; then they do what is asked of them."""

    async def story(stage: PlatformStage) -> None:
        platform = stage.platform
        platform.stop()
        await platform.start(previous_checkout(tmp_path))
        try:
            await stage.deploy(cities=CITIES)
            before = {city: await stage.machines(city) for city in CITIES}
        finally:
            platform.stop()
            await platform.start()
        await stage.edit("web", with_replicas(2))
        await stage.served("web")
        for city in CITIES:
            assert (await stage.machines(city)).items() > before[city].items()

    play(story)

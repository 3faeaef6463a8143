"""The start and the end of a manager process whose planes do not answer."""

import asyncio
import json
from pathlib import Path

from compute.app.manager.manager_process import ManagerProcess, manager_setup
from compute.app.manager.options import ManagerOptions
from tests.support.kubekit.store_builders import environment

LIMIT = 10.0  # seconds


def kubeconfig(folder: Path, name: str, server: str) -> Path:
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": name, "cluster": {"server": server}}],
        "contexts": [{"name": name, "context": {"cluster": name}}],
        "current-context": name,
    }
    file = folder / f"{name}.yaml"
    file.write_text(json.dumps(document))
    return file


def test_a_cell_that_waits_for_its_own_cluster_can_be_stopped(tmp_path, caplog):
    """Without a name it asks its cluster for one, which may be down for hours."""

    async def stopped_while_it_waits(options: ManagerOptions) -> None:
        process = ManagerProcess(manager_setup(options, environment(), {}))
        running = asyncio.ensure_future(process.run())
        while "the cell's own cluster does not answer" not in caplog.text:
            assert not running.done()
            await asyncio.sleep(0.01)
        process.stop()
        await asyncio.wait_for(running, LIMIT)

    dead = "http://127.0.0.1:1"
    own, hub = (kubeconfig(tmp_path, name, dead) for name in ("own", "hub"))
    options = ManagerOptions(cell=True, kubeconfig=own, federation_kubeconfig=hub)
    asyncio.run(asyncio.wait_for(stopped_while_it_waits(options), LIMIT))

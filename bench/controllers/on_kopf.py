"""The controller on kopf, as its documentation shows it, with what slows it down switched off.

    python bench/controllers/on_kopf.py NAMESPACE      with KUBECONFIG set

Handlers are coroutines, no events are posted, nothing is logged. The index is kopf's cache of objects.
"""

import asyncio
import logging
import sys
from http import HTTPStatus
from typing import Any

import kopf
from kubernetes import aio
from kubernetes.aio import config

from bench.controllers.parents import CHILD_DATA, GROUP, PLURAL, VERSION

_CLIENTS: list[Any] = []
connected: Any = config.new_client_from_config


@kopf.on.startup()
async def configure(settings: kopf.OperatorSettings, **_: object) -> None:
    settings.posting.enabled = False
    settings.scanning.disabled = True
    _CLIENTS.append(aio.client.CoreV1Api(await connected()))
    print("started", flush=True)


@kopf.on.cleanup()
async def end(**_: object) -> None:
    await _CLIENTS[0].api_client.close()


@kopf.index(GROUP, VERSION, PLURAL)
def parents(body: kopf.Body, name: str, **_: object) -> dict[str, object]:
    """What a controller needs to read another object."""
    return {name: dict(body)}


@kopf.on.create(GROUP, VERSION, PLURAL)
async def make(
    body: kopf.Body, name: str, namespace: str | None, patch: kopf.Patch, **_: object
) -> None:
    child = {"metadata": {"name": name}, "data": CHILD_DATA}
    kopf.adopt(child, owner=body)
    try:
        await _CLIENTS[0].create_namespaced_config_map(namespace, child)
    except aio.client.ApiException as error:
        if error.status != HTTPStatus.CONFLICT:  # it is there already
            raise
    patch.status["child"] = name


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    asyncio.run(kopf.operator(standalone=True, namespaces=[sys.argv[1]]))

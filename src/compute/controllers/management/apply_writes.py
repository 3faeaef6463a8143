"""Carrying out the writes that a decision asks for."""

from typing import TypeVar, assert_never

from compute.decide.writes import Create, Delete, Update, Write
from kubekit.api.errors import NotFound
from kubekit.api.meta import Object
from kubekit.client.client import Client
from kubekit.client.options import PLAIN_DELETE, DeleteOptions

K = TypeVar("K", bound=Object)


async def save(client: Client, write: Create[K] | Update[K]) -> K:
    """The object once everything but its status is as desired."""
    if isinstance(write, Create):
        return await client.create(write.desired)
    return await client.patch(write.existing, write.desired)


async def remove(client: Client, write: Delete[K]) -> None:
    """Remove an object. One that is gone already was removed by somebody."""
    version = write.existing.metadata.resource_version
    options = DeleteOptions(resource_version=version) if write.unchanged else PLAIN_DELETE
    try:
        await client.delete(write.existing, options)
    except NotFound:
        return


async def carry_out(client: Client, write: Write[K]) -> None:
    """Do what is asked for, but for the status."""
    match write:
        case Create() | Update():
            await save(client, write)
        case Delete():
            await remove(client, write)
        case _:
            assert_never(write)

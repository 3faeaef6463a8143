"""Apply the writes that a decision asks for."""

from typing import TypeVar, assert_never

from compute.decide.writes import Create, Delete, Update, Write
from kubekit.api.meta import Object
from kubekit.client.client import Client
from kubekit.runtime import live

K = TypeVar("K", bound=Object)


async def save(client: Client, write: Create[K] | Update[K]) -> K:
    """Create or update an object, except for its status."""
    if isinstance(write, Create):
        return await client.create(write.desired)
    return await client.patch(write.existing, write.desired)


async def remove(client: Client, write: Delete[K]) -> None:
    """Delete an object. It may be gone already."""
    if write.unchanged:
        await live.delete_as_read(client, write.existing)
    else:
        await live.delete(client, write.existing)


async def apply(client: Client, write: Write[K]) -> None:
    """Apply a write, except for the status."""
    match write:
        case Create() | Update():
            await save(client, write)
        case Delete():
            await remove(client, write)
        case _:
            assert_never(write)

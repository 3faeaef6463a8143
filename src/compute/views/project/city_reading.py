"""The objects that views of cities are made of, read from a project."""

import asyncio

from compute.api.compute import Instance, Workload, WorkloadDeployment
from compute.api.networking import LocationBinding
from compute.views.project.cities import CityObjects
from compute.views.reading import ProjectReader


async def city_objects(reader: ProjectReader) -> CityObjects:
    """The locations of a project, and what its namespace runs in them."""
    bindings, workloads, deployments, instances = await asyncio.gather(
        reader.if_served(LocationBinding),
        reader.all(Workload),
        reader.all(WorkloadDeployment),
        reader.all(Instance),
    )
    return CityObjects(
        bindings=bindings, workloads=workloads, deployments=deployments, instances=instances
    )

"""The composition root: the only package that imports all the others.

    world, world_server      the whole platform in one process: `compute up`
    roles, parts             which controllers run in which part, and the managers that run them
    planes, links            the planes of a world, and the links between its parts and them
    admission                the admission plugins of the planes: where a Workload is admitted
    project_clusters         engages the plane of each project
    plane_server             one plane without controllers: `compute plane serve`

`docs/one-machine.md` shows how they fit together.
"""

"""Stand-ins for the services around compute, for a world on one machine.

    projects, default_network   a plane and a network for each project
    quota                       grants budgets, and answers the ResourceClaims of Instances
    network                     networks of projects, and their addresses in cells
    locations, offers           the Location of each cell, and the cities that projects are offered
    entitlements                whether a project may use a service

`catalog` lists all of them.
"""

"""The controllers of a cell: from deployments to Instances, and their copies on the hub.

    deployment            creates and deletes Instances, opens their gate Network, counts them
    instance              claims quota, opens the gate Quota, derives Ready
    write_back            copies Instances to the hub
    planes                the planes and settings that all of them receive
    project_identities    the project of an Instance, from its namespace

`compute.app.roles` starts one manager with these controllers for each cell.
"""

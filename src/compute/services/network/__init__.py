"""A network service for worlds without one: networks of projects, and their addresses in cells.

    project: Network  <--- allocator: one prefix for each claim, kept as a Subnet beside the Network
                |                             ^                          |
    cell:  NetworkBinding -> NetworkContext -> SubnetClaim ----------> Subnet

A cell goes on with what it has when the project does not answer: only what is new needs the project.
"""

from compute.services.network.service import controllers

__all__ = ["controllers"]

"""A network service for installations without one: networks of projects, and their addresses in cells.

    project: Network  <--- allocator: one prefix for each claim, kept as a Subnet beside the Network
                |                             ^                          |
    cell:  NetworkBinding -> NetworkContext -> SubnetClaim ----------> Subnet

While the project is unreachable, a cell keeps its addresses: only a new network or claim needs it.
"""

from compute.services.network.service import controllers

__all__ = ["controllers"]

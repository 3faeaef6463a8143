"""A network service for installations without one: networks of projects, and their addresses in cells.

    project: Network  <--- allocator: one prefix for each claim, kept as a Subnet beside the Network
                |                             ^                          |
    cell:  NetworkBinding -> NetworkContext -> SubnetClaim ----------> Subnet

While the project is unreachable, a cell keeps its addresses. Only a new network or claim needs the
project. Start with `service`, which lists the controllers; `subnet_ledger` and `allocation` are the
core.
"""

from compute.services.network.service import controllers

__all__ = ["controllers"]

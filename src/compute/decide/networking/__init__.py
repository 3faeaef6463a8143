"""Decisions about networks: which are wanted, which are ready, and which addresses are allocated.

    networks      whether the networks of a deployment are ready in its city, and what to request
    bindings      which NetworkBinding serves which interface
    network_use   what uses a network, and what that forbids
    addresses     prefixes for locations, and addresses for machines

Start reading at `networks.network_plan`.
"""

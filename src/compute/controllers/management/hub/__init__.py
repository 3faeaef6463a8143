"""Namespaces and propagation policies on the hub.

    policies     creates, repairs and deletes the PropagationPolicy of each city
    namespaces   deletes namespaces, and copies whose original is gone
    origins      from an object of the hub to the project's object that it is a copy of

What belongs on the hub is decided in `compute.decide.federation`.
"""

"""Two admission plugins that every plane has: webhooks, and the quota of the plane.

The chain that calls plugins is `kubekit.plane.registry.admission`.
"""

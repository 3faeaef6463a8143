"""Providers of clusters for a role: each engages and disengages clusters as they come and go.

    fixed         one cluster that always exists
    kubeconfigs   a cluster for each context of kubeconfig files
    announced     clusters that another part of the process announces
    on_demand     clusters that are engaged when they are first needed

`docs/controllers.md` shows where a process gets its provider.
"""

"""What people read: typed views of workloads, rollouts, instances, history and quota.

The command line prints a view, `-o json` is the view, and the console sends the same view over its
stream. A view is made of objects and `now` by a pure function; it decides nothing itself: why something
is stuck comes from `compute.decide`. Field names are those of the JSON.

    reading     the objects that views are made of, read from a project
"""

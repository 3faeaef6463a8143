"""`compute top` on a terminal. Only this package imports textual, and only `look/top.py` imports it.

state     what the dashboard shows, from objects that are kept current by watch
actions   what its keys do: each is the change that a command of the same name makes
panels    workloads, cities and instances as text
dialogs   the screens that ask or show more
app       the dashboard itself
"""

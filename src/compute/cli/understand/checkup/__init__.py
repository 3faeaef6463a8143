"""The parts of `compute doctor`.

reading       the facts of a server, a project and its Workloads
local_world   the facts of a platform on this machine
repairs       what --fix does
report        the results as text
"""

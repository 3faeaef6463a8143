"""The decisions of the system: objects and ``now`` in; a plan, a verdict or a status out.

Nothing here does I/O. So every decision can be tested by comparing values, checked over random
worlds, and shared by controllers, the admission webhook, the command line and the console.
"""

"""The thinking of the system: objects and ``now`` in; a plan, a verdict or a status out.

Nothing here acts. That is what lets every decision be tested by comparing values, proven over
random worlds, and shared by controllers, the admission webhook, the command line and the console.
"""

"""Settings for every test."""

from hypothesis import settings

pytest_plugins = ["tests.peers.plugin"]

# Machines are noisy: how long an example takes proves nothing. The order of examples is drawn from
# the test's own seed, which pytest-randomly prints, so that a failure can be run again.
settings.register_profile("default", deadline=None, print_blob=True)
settings.load_profile("default")

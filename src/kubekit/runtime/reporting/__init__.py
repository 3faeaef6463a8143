"""Events, metrics, traces, and the health of a process."""

"""One reconcile pass: the client it writes with, and how it observes its own writes."""

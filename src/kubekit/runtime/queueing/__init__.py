"""The work queue of a controller, its workers, and what follows from the outcome of a pass."""

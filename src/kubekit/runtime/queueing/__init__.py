"""The work queue of a controller, its workers, and the requeue after each pass."""

"""The work queue of a controller, its workers, and the requeue after each pass.

    queue, queue_admission   the requests that wait; a request waits until its cluster is synced
    worker_pool              runs the passes
    outcomes                 what follows from each `Result` and each exception, such as a Conflict
    backoff                  the delay of a request that fails
    reconcile_throttle       the minimum interval between passes of an object with many children
    storms, pass_log         warnings and lines in the log

`docs/requeue.md` lists every delay.
"""

"""Decisions about a Workload: its deployments, its status and its history.

    placement            the deployments to create, update, keep and delete, and their names
    workload_status      the status and its condition Available, from the deployments
    workload_events      the events that follow from a change
    serving              whether every Instance runs the newest template
    history, spec_diff   revisions, what changed between two, and what an undo writes
    undo_plan            an undo of a whole Workload, or in single cities by pins
    revision_note        what a user notes on a change, for the history
    preview              what a manifest would create
    orphan_deletion      which deletions are refused, because nothing would manage what is left

Start reading at `placement.split` and `workload_status.workload_status`.
"""

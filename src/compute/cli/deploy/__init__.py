"""Commands that create, compare and delete workloads.

    deploy, diff, plan, destroy
                     the commands; their work is in deploy_run, diff_run and destroy_run
    deploy_command   options whose value may be left out
    deploy_options   the options that deploy and diff share
    deploy_inputs    what these options mean
    deploy_mode      how far a deploy goes
    deploy_wait      the rollouts that it starts
    auto_undo        the undo of a deploy that failed
    staged_changes   changes that wait in some cities
    planning, file_planning, references
                     the changes that flags or files ask for, and what they refer to on the server
    plan_text        the plan as people read it
    stale_readers    workloads that keep old values until a restart
    manifests, manifest_lines, saved_manifest
                     manifests: read, located, and written

Start reading at `deploy_run.run_deploy`.
"""

"""The instance controller: quota, and whether an Instance is Ready.

    controller         one reconcile pass: evaluates quota, opens the gate Quota, writes conditions
    quota_gate         the claim of an Instance in its project: read live, created, deleted
    claims             a controller that deletes claims without an Instance
    binding_failures   networks that failed, as a reason of the Instances that wait for them

What the answer to a claim means is decided in `compute.decide.quota`, and whether an Instance is
Ready in `compute.decide.readiness`.
"""

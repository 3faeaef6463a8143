"""The projector: Instances of the hub, copied to their projects."""

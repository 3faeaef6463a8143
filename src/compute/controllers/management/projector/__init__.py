"""The projector: Instances of the hub, shown in their projects."""

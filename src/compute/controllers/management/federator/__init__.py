"""The federator: deployments of a project, sent to the hub, and their status brought back."""

"""The commands of `compute rollout`."""

"""The engine of a hub on one machine: the part of Karmada that we rely on, over the same objects."""

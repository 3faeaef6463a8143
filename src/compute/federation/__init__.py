"""The federation engine of a hub: the part of Karmada that this product relies on, with the same objects."""

"""The words of the system: kinds, conditions, reasons, names, labels and errors.

Everything here is a value or a pure function of values. Nothing opens a file, reads a clock or
logs, and nothing imports another part of the package, so every other part may speak these words.
"""

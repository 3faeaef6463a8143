"""Completion of words in the shell: a name of a workload, a city, a flag.

values     what completes the value of an argument or option; declared there with `shell_complete=`
"""

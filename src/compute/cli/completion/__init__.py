"""Completion of words in the shell: a name of a workload, a city, a flag.

values      what completes the value of an argument or option; declared there with `shell_complete=`
protocol    the answer to `compute __complete ARGS... WORD`
live_names  names of objects on the server of the target
quick_get   one GET, with a short limit
name_cache  names that were read a moment ago
scripts/    what `compute completion SHELL` prints
"""

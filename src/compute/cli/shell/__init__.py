"""What every command is made of.

groups      groups that import a command only when it is called, and suggest the nearest one
commands    a command with examples, exit codes, and the options that choose the target
errors      failures as one sentence and one next command, or as JSON
session     the project that a command works in: its client, its namespace, the time
project_work
            runs that work, and makes failures of errors
prompts     questions, which are asked on a terminal only
parameters  types of arguments: durations, cities, names
"""

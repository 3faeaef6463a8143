"""The command line: one module per command, each imported only when it is called.

A command reads objects, calls `compute.decide` or `compute.views`, and prints. It does not know HTTP.

    root           runs a command; how each ends
    command_table  names the commands
    deploy, look, change, understand, local, operate
                   the commands, by task
    shell          what every command is made of: groups, options, errors, the session
    output         tables, formats and phrases
    target         which server and which project

Help and completion import the module of a command, and nearly all of their time is spent on imports. So
that module has the options only. What the command does is in the module of the same name with `_run`,
or another one that the function of the command imports. `test_imports` checks it, and what a list
does without.

The other modules are streams, exit codes and how the user spells the command.
"""

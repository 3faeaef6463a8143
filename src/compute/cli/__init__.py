"""The command line: one module per command, each imported only when it is called.

A command reads objects, calls `compute.decide` or `compute.views`, and prints. It does not know HTTP.

    root           runs a command; how each ends
    command_table  names the commands
    deploy, look, change, understand, local, operate
                   the commands, by task
    shell          what every command is made of: groups, options, errors, the session
    output         tables, formats and phrases
    target         which server and which project

The other modules are streams, exit codes and how the user spells the command.
"""

"""The command line: one module per command, each imported only when it is called.

    root                      names the commands
    up, up_status, down       a world on this machine
    cell                      cuts cells off, and heals them
    plan                      what manifests would create
    plane, plane_users, plane_keys
                              one plane, its users and its keys

The other modules are options, files, streams and tables that the commands share.
"""

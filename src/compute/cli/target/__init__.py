"""The target of a command: which server, which project, which namespace, and why these.

chosen        the target, and the rule that chose it
flags         the flags that choose it
wishes        what flags, variables and settings ask for, each with its source
resolution    the rules in their order
settings      the user's own choice, which `compute config` writes
kubeconfigs   a context of a kubeconfig as a target
servers       an address, or the server of datumctl, as a target
datumctl      the credentials of a plugin of datumctl
project_paths the path of a project's API on the server of a platform
"""

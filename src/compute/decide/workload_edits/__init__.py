"""What the flags of a deploy make of a Workload, new or existing. Everything they do not name stays.

    deploy_flags    the flags as values, and the texts that they are written in
    desired         the Workload that the flags ask for
    containers      image, command, environment, ports and files of one container
    placements      cities, number and order of the Instances of one placement
    field_settings  `--set path=value`, for any field
    manifests       a Workload and other objects as a file asks for them
    city_effects    what a change does in each city, and the quota that it needs
    scaling         other numbers of Instances, by flags of their own
    chosen_cities   the cities that a user means
    staging         a change that reaches some cities first, and waits in the others
    document_errors what is wrong with a document of any kind
    change_phrases  what a change does, in words
    concurrent_changes
                    whether the changes of two clients can both stand

Start reading at `desired.desired`.
"""

from compute.decide.workload_edits.city_effects import CityEffect, Effect, effects
from compute.decide.workload_edits.deploy_flags import DeployFlags, FlagError
from compute.decide.workload_edits.desired import desired

__all__ = ["CityEffect", "DeployFlags", "Effect", "FlagError", "desired", "effects"]

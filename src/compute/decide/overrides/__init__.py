"""What a user sets for single cities and Instances of a Workload, by annotations.

    city_pauses          cities whose template changes are held back
    city_templates       the template of each city: that of the spec, or restarted or pinned there
    city_restarts        restarts of all cities or of some
    city_pins            templates that an undo restores in some cities
    pin_reading          pins in the annotation, checked against their schema
    replaced_instances   single Instances to replace
    pruning              annotations without entries that mean nothing any more
    annotated, stamps    the annotations of a Workload, and the times in them

All of it is a pure function of the Workload: no controller stores anything, so none can revert it.
Start reading at `city_templates.template_for`. The functions that return a Workload compute what a
client has to write.
"""

from compute.decide.overrides.city_pauses import is_paused, paused, paused_cities, resumed
from compute.decide.overrides.city_pin import CityPin
from compute.decide.overrides.city_pins import pinned
from compute.decide.overrides.city_restarts import restarted
from compute.decide.overrides.city_templates import CityTemplates, template_for
from compute.decide.overrides.pruning import pruned
from compute.decide.overrides.replaced_instances import can_be_replaced, replaced

__all__ = [
    "CityPin",
    "CityTemplates",
    "can_be_replaced",
    "is_paused",
    "paused",
    "paused_cities",
    "pinned",
    "pruned",
    "replaced",
    "restarted",
    "resumed",
    "template_for",
]

"""All about one object, for a screen that is about nothing else.

workload_details   a Workload: its status, placements, template, and what users have set
instance_details   an Instance: why it does not run, its gates, quota, networks
plane_paths        the same Instance in the project, on the hub and in its cell
runtimes           what a template runs; values of variables are masked
conditions         conditions in words
event_reading      the events of one object
"""

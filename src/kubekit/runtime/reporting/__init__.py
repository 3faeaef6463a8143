"""Events, metrics, traces, and the health of a process.

events                      the recorder that reconcilers use
event_sink, event_series    the write of events to one plane, and the series of repeated ones
event_limits                the limits of events about one object
metrics, counters           the numbers of one process, and the page of a scrape
health, probes              the checks of a process, and the HTTP server for them
tracing                     one trace through all planes
"""

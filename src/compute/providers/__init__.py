"""Providers, which run Instances. There is one, which simulates machines.

    provider               starts the machine of an Instance whose gates are open, reports its state
    machines               the state of a simulated machine at a given time
    simulated              the controllers of the provider
    settings, delays       failures and delays that operators configure
    interfaces, addresses  the addresses of a machine

Start reading at `provider.Provider`.
"""

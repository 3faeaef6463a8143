"""What a project has and may use.

quota            limits, use by city, and what waits for more
cities           the cities that it can use, and why not the others
access           whether it may use compute at all
instance_types   the sizes of instances
quota_reading    the objects that views of quota are made of
city_reading     the objects that views of cities are made of
"""

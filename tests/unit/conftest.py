"""How hypothesis runs here: a slow or shared machine is no failure, so no time limit an example."""

from hypothesis import settings

settings.register_profile("cobalance", deadline=None)
settings.load_profile("cobalance")

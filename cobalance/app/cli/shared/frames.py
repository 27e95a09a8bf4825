"""All of pandas, as a module that `cobalance.app.cli.shared.deferred` can defer."""

from pandas import *  # noqa: F403

from . import attributes as attributes, runs as runs
from .runs import read_run as read_run

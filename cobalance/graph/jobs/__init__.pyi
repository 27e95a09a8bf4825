from . import lifecycle as lifecycle, reads as reads, reports as reports, status as status
from .reads import ALIVE as ALIVE, works_for as works_for
from .reports import ALIVE_S as ALIVE_S
from .status import read_job as read_job, waits_for as waits_for

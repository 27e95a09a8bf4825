"""Tables that rename, merge and drop concepts."""

import json
import tomllib
from difflib import get_close_matches
from pathlib import Path

import msgspec
import numpy as np

from graph.errors import InputError
from graph.progress import silent
from graph.records import Annotations
from ingest.names import clean_name, name_fault
from ingest.problems import Problems
from ingest.reader import read_head, read_text
from ingest.tables import TABLES

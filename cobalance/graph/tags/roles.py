"""Effects of tags on counts."""

from typing import Literal

TagRole = Literal["tag", "concept", "exclude"]

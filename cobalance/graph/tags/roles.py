"""What a tag does to counts."""

from typing import Literal

TagRole = Literal["tag", "concept", "exclude"]

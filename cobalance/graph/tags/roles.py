"""What tags do; apart from the rest, as the help of commands reads it."""

from typing import Literal

# Nothing more than being there, its images show it as a concept, or they are left out.
TagRole = Literal["tag", "concept", "exclude"]

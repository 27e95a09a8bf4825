from . import (
    card as card,
    document as document,
    examination as examination,
    reading as reading,
    stored as stored,
)

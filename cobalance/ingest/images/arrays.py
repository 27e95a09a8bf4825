"""Array types of pixels and masks."""

import numpy as np
import numpy.typing as npt

ImageArray = npt.NDArray[np.uint8]
"""Pixels of shape (height, width, 3): red, green, blue."""
MaskArray = npt.NDArray[np.bool_]
"""Of shape (height, width): whether a pixel is the object's."""

from .arrays import ImageArray as ImageArray

from . import images as images, sets as sets
from .examples import code_examples as code_examples
from .reading import read_folder_images as read_folder_images

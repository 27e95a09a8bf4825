from . import labels as labels, settings as settings

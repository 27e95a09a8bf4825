from . import applying as applying, tags as tags

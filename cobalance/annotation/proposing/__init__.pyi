from . import cost as cost, options as options, review as review

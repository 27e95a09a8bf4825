from . import scores as scores, shift as shift, truth as truth

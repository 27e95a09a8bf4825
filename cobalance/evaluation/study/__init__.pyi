from .agreement import study_results as study_results
from .questions import blind_sentence as blind_sentence, tasks_of as tasks_of
from .sample import draw_pairs as draw_pairs

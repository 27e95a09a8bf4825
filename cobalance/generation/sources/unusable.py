"""The error for an image that cannot be used as a source."""


class UnusableError(Exception):
    """An image that cannot be used, with a remedy.

    Parameters
    ----------
    problem : str
        What is wrong, as a clause behind "an image": ``"has no mask file"``.
    remedy : str
        What to do, as a sentence without its full stop.
    detail : str
        What was found in this image.
    """

    def __init__(self, problem: str, remedy: str, detail: str = "") -> None:
        super().__init__(problem)
        self.problem, self.remedy, self.detail = problem, remedy, detail

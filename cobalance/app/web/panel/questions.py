"""One question after the other: progress, a button with a key for each answer, and the way back."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import streamlit as st

from cobalance.app.web.components.images.shown_images import image_files
from cobalance.app.web.widgets.messages import errors_kept, show_kept_error
from cobalance.app.web.widgets.theme import escape
from cobalance.graph.wording import inflect
from cobalance.workflows.panel.answers import Task

IMAGE_PX = 1600


@dataclass(frozen=True)
class Choice:
    """An answer to choose.

    `answer` is recorded, `label` shown, and `key` the key of the keyboard that gives it.
    """

    answer: str
    label: str
    key: str | None


@dataclass(frozen=True)
class Questions:
    """Questions to one person, answered one after the other.

    Parameters
    ----------
    name : str
        Of the page, for the keys of its widgets.
    place : (str, str)
        Ids of what is answered, and of the person.
    tasks : sequence of tasks
        In order.
    draw : callable
        Draws a task.
    choices : callable
        The answers of a task.
    save : callable
        Records an answer to the task at a position, or raises a CobalanceError.
    """

    name: str
    place: tuple[str, str]
    tasks: Sequence[Task]
    draw: Callable[[Task], None]
    choices: Callable[[Task], Sequence[Choice]]
    save: Callable[[int, str], None]

    @property
    def _problem(self) -> str:
        return f"_{self.name}_problem"

    @property
    def _back(self) -> str:
        return f"_{self.name}_back"  # the task that somebody went back to

    def show(self, closed: str = "") -> None:
        """Draw the first task without an answer, or the one that the person went back to.

        Parameters
        ----------
        closed : str
            Why no answer is taken.
        """
        show_kept_error(self._problem)
        tasks = self.tasks
        unanswered = next((at for at, task in enumerate(tasks) if task.answer is None), len(tasks))
        back_at, back_in = st.session_state.get(self._back, (unanswered, self.place))
        at = min(back_at, unanswered) if back_in == self.place else unanswered
        answered = sum(task.answer is not None for task in tasks)
        st.progress(
            answered / max(len(tasks), 1), f"{answered:,} of {inflect(len(tasks), 'questions')}"
        )
        if closed:
            st.info(closed, icon=":material/lock:")
            return
        if at == len(tasks):
            person = escape(self.place[1])
            st.success(f"Thank you, {person}: that was the last one.", icon=":material/check:")
        else:
            self.draw(tasks[at])
            self._answers(at, unanswered)
        st.button(
            "Back",
            key=f"_{self.name}_back {at}",
            on_click=self._go_back,
            args=(at - 1,),
            shortcut="left",
            help="Change your last answer.",
            disabled=at == 0,
        )

    def _answers(self, at: int, unanswered: int) -> None:
        """Draw the answers; keys of widgets hold the task: a second press answers no other."""
        task = self.tasks[at]
        with st.container(horizontal=True):
            for number, choice in enumerate(self.choices(task)):
                st.button(
                    escape(choice.label),
                    key=f"_{self.name}_{at}_{number + 1}",
                    on_click=self._answer,
                    args=(at, choice.answer, unanswered),
                    shortcut=choice.key,
                    type="primary" if choice.answer == task.answer else "secondary",
                )

    def _answer(self, at: int, answer: str, unanswered: int) -> None:
        """Record an answer in a button's callback, and go on to the next task."""
        with errors_kept(self._problem):
            self.save(at, answer)
            if at < unanswered:
                st.session_state[self._back] = (at + 1, self.place)
            else:
                st.session_state.pop(self._back, None)

    def _go_back(self, at: int) -> None:
        st.session_state[self._back] = (at, self.place)


def draw_blind(uri: str | None, alt: str, what: str) -> None:
    """Draw an image of which nothing names its file.

    Parameters
    ----------
    what : str
        What its runner is to be told about where it cannot be shown.
    """
    picture = image_files().thumbnail(uri, IMAGE_PX)
    if picture.problem is None:
        st.image(picture.data, width="stretch", alt=alt)
    else:  # the placeholder names the file
        st.warning(f"This image cannot be shown. Please tell whoever runs the {what}.")

"""Form that has a language model find concepts in the captions of the dataset."""

import shlex
from typing import TYPE_CHECKING

import streamlit as st

from cobalance.app.web.annotate.asking import choose_model, order_button, show_command, usage_of
from cobalance.app.web.state import session
from cobalance.app.web.state.access import user_name
from cobalance.app.web.state.session import CurrentDataset
from cobalance.app.web.state.url import number_in_url
from cobalance.app.web.widgets.messages import empty_state
from cobalance.app.web.widgets.theme import escape
from cobalance.app.web.widgets.wording import in_app
from cobalance.graph.database.store import GraphStore
from cobalance.graph.errors import DataError
from cobalance.graph.progress import Progress
from cobalance.graph.wording import inflect
from cobalance.workflows.label.extract import ExtractOrder, count_captions, extract_concepts

if TYPE_CHECKING:
    from cobalance.annotation.language.chat import ChatModel


def show(current: CurrentDataset) -> None:
    """Draw the form, what the order takes, and how far it is."""
    captions = session.settings().folders().captions
    with st.container(border=True):
        left, right = st.columns(2)
        with left:
            limit: int | None = st.number_input(
                "Only the first images, by id",
                1,
                None,
                None,
                **number_in_url("extract_limit"),
                placeholder="all with a caption",
            )
        with right:
            which = choose_model()
    order = ExtractOrder(current.name, captions, limit)
    try:
        images, questions = current.read(captions_of, limit)
    except DataError as error:  # no captions
        empty_state("No captions to read", escape(error.render(in_app)))
        return
    st.markdown(
        f"**{questions:,} questions**, one for each different caption of "
        f"{inflect(images, 'images')}. A concept counts where its words stand in the caption, and "
        "once the run is accepted. Replies are kept: the same order again goes on where it stopped."
    )
    name = user_name()
    folder = session.settings().folders().open_output()

    def work(chat: "ChatModel", progress: Progress) -> str:
        done = extract_concepts(
            current.store, folder, chat, order, created_by=name, progress=progress
        )
        usage = done.usage
        return (
            f"{inflect(done.concepts, 'concepts')} in captions of {inflect(done.images, 'images')};"
            f" {done.inferred:,} that no caption names are left out. Accept the run under “Runs”. "
            + usage_of(usage.asked, usage.kept, usage.tokens_in, usage.tokens_out)
        )

    order_button("Find concepts", f"extract {current.name}", which, work, ready=True)
    limited = [] if limit is None else ["--limit", str(limit)]
    show_command(f"cobalance annotate extract {shlex.join([current.name, *limited])} --local")


def captions_of(store: GraphStore, dataset: str, limit: int | None) -> tuple[int, int]:
    """Images with captions, and how many captions differ."""
    return count_captions(
        store, ExtractOrder(dataset, session.settings().folders().captions, limit)
    )

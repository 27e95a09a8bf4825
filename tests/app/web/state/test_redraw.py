"""Callbacks that redraw fragments alone."""

from streamlit.testing.v1 import AppTest


def _script() -> None:
    import streamlit as st

    from cobalance.app.web.state import refreshing

    st.session_state.setdefault("pages", 0)
    st.session_state.setdefault("fragments", 0)
    st.session_state["pages"] += 1

    @st.fragment(key="part")
    def part() -> None:
        st.session_state["fragments"] += 1

    part()
    st.button("part", on_click=refreshing.redraw, args=("part",))
    st.button("lacking", on_click=refreshing.redraw, args=("part", "lacking"))


def test_fragments_alone_are_redrawn_or_the_page_where_one_is_lacking() -> None:
    app = AppTest.from_function(_script).run()
    runs = app.session_state
    assert (runs["pages"], runs["fragments"]) == (1, 1)
    app.button[0].click().run()
    assert (runs["pages"], runs["fragments"]) == (1, 2)
    app = AppTest.from_function(_script).run()
    app.button[1].click().run()
    assert not app.exception
    assert (app.session_state["pages"], app.session_state["fragments"]) == (2, 2)

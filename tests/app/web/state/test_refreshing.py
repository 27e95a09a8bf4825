"""A fragment that asks for the whole page does not cut short the run that a click began."""

from streamlit.testing.v1 import AppTest


def page():
    import streamlit as st

    from cobalance.app.web.state import refreshing

    refreshing.begin_run()
    st.session_state["runs"] = st.session_state.get("runs", 0) + 1

    @st.fragment(run_every=60)
    def part() -> None:
        if st.session_state.pop("has_changed", False):
            refreshing.rerun_page()
            return
        st.text("drawn")

    part()
    if st.button("Go"):
        st.session_state["pressed"] = True
    refreshing.rerun_if_asked()


def test_a_button_below_is_told_of_its_click():
    app = AppTest.from_function(page).run()
    assert (app.session_state["runs"], app.text[0].value) == (1, "drawn")
    app.session_state["has_changed"] = True
    app.button[0].click().run()
    assert app.session_state["pressed"]
    assert app.session_state["runs"] == 3  # the click's, and one with what has changed
    assert app.text[0].value == "drawn"

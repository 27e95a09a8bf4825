"""A page whose task ends while it is drawn shows what the task has changed."""

from streamlit.testing.v1 import AppTest


def page():
    import streamlit as st

    from cobalance.app.web.state import refreshing, tasks
    from cobalance.app.web.widgets.messages import show_task

    refreshing.begin_run()
    read = st.session_state.get("changed", "before")
    if "changed" not in st.session_state:
        tasks.start("work", "Working", lambda _: "Worked").wait(60)
        st.session_state["changed"] = "after"
    running = show_task("work")
    st.text(f"{read}, {'running' if running else 'ended'}")
    refreshing.rerun_if_asked()


def test_a_task_that_ends_while_the_page_is_drawn():
    app = AppTest.from_function(page).run()
    assert [one.value for one in app.text] == ["after, ended"]
    assert [one.value for one in app.success] == ["Worked"]

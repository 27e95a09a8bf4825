"""Who may look and who may change things: the viewer is refused where the write begins."""

import pytest
from streamlit.testing.v1 import AppTest


def page():
    import streamlit as st

    from app.views.state import access, tasks
    from app.views.widgets import login

    login.require_login()
    login.account()
    st.text("the datasets")
    st.text(f"may edit: {access.may_edit()}")

    def drop() -> None:
        try:
            access.require_editor()
        except access.NotAllowedError as error:
            st.error(str(error))
        else:
            st.success("dropped")

    def rename() -> None:
        try:
            tasks.start("rename", "Renaming", lambda _: "renamed").wait(10)
        except access.NotAllowedError as error:
            st.error(str(error))
        else:
            st.success("renamed")

    if st.button("Rename"):
        rename()
    if st.button("Drop"):  # shown to everybody: what counts is the check of the write
        drop()


def run(user=None):
    test = AppTest.from_function(page)
    if user is not None:
        test.user = user
    return test.run()


def press(test, label):
    next(button for button in test.button if button.label == label).click().run()


def texts(test):
    return [text.value for text in test.text]


def test_without_logins_everybody_is_an_editor():
    test = run()
    assert texts(test) == ["the datasets", "may edit: True"]
    for label in ("Drop", "Rename"):
        press(test, label)
        assert test.success


@pytest.mark.parametrize(
    "user", [{}, {"email": "ann@example.org"}, {"is_logged_in": False}, {"is_logged_in": "yes"}]
)
def test_nothing_is_shown_to_whom_has_yet_to_log_in(login, user):
    login(editors="ann@example.org")
    test = run(user)
    assert texts(test) == []
    assert [button.label for button in test.button] == ["Log in"]


@pytest.mark.parametrize(
    ("user", "may_edit"),
    [
        ({"email": "Ann@Example.org"}, True),
        ({"email": "bob@team.example"}, True),
        ({"email": "ann@example.org", "email_verified": True}, True),
        ({"email": "ann@example.org", "email_verified": False}, False),
        ({"email": "eve@example.org"}, False),
        ({"email": "ann@example.org.evil.example"}, False),
        ({"email": None, "name": "ann@example.org"}, False),
        ({}, False),
    ],
)
def test_only_editors_change_things(login, user, may_edit):
    login(editors="ann@example.org, @team.example")
    test = run({"is_logged_in": True, **user})
    assert texts(test)[-2:] == ["the datasets", f"may edit: {may_edit}"]
    for label in ("Drop", "Rename"):
        press(test, label)
        assert bool(test.success) == may_edit
        assert bool(test.error) != may_edit


@pytest.mark.parametrize(
    ("email", "may_look"),
    [("ann@example.org", True), ("bob@team.example", True), ("eve@example.com", False)],
)
def test_viewers_can_be_named_too(login, email, may_look):
    login(editors="ann@example.org", viewers="@team.example")
    test = run({"is_logged_in": True, "email": email})
    assert ("the datasets" in texts(test)) == may_look
    assert test.button[0].label == "Log out"

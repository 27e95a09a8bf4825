"""Who may look and who may change things: the viewer is refused where the write begins."""

import pytest
from streamlit.testing.v1 import AppTest


def page():
    import streamlit as st

    from cobalance.app.web.main import draw_account, require_login
    from cobalance.app.web.state import access, tasks

    require_login()
    draw_account()
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
    assert not test.button


@pytest.mark.parametrize(
    ("user", "may_edit"),
    [
        ({"email": "Ann@Example.org", "email_verified": True}, True),
        ({"email": "bob@team.example", "email_verified": "true"}, True),
        ({"email": "ann@example.org", "email_verified": False}, False),
        ({"email": "ann@example.org", "email_verified": "false"}, False),
        ({"email": "ann@example.org", "email_verified": None}, False),
        ({"email": "ann@example.org", "email_verified": 1.5}, False),
        ({"email": "ann@example.org", "email_verified": [True]}, False),
        ({"email": "ann@example.org"}, False),
        ({"email": "eve@example.org", "email_verified": True}, False),
        ({"email": "ann@example.org.evil.example", "email_verified": True}, False),
        ({"email": None, "name": "ann@example.org", "email_verified": True}, False),
        ({"email_verified": True}, False),
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
    ("claims", "may_edit"),
    [({}, True), ({"email_verified": True}, True), ({"email_verified": False}, False)],
)
def test_the_operator_can_trust_a_provider_that_says_nothing(login, claims, may_edit):
    login(editors="ann@example.org", trust_email="true")
    test = run({"is_logged_in": True, "email": "ann@example.org", **claims})
    assert texts(test)[-1] == f"may edit: {may_edit}"


def test_who_is_unproven_is_told_why(login):
    login(editors="ann@example.org")
    test = run({"is_logged_in": True, "email": "ann@example.org"})
    press(test, "Drop")
    assert "COBALANCE_TRUST_EMAIL" in test.error[0].value
    login(editors="ann@example.org", viewers="@example.org")
    test = run({"is_logged_in": True, "email": "ann@example.org"})
    assert "the datasets" not in texts(test)
    assert "COBALANCE_TRUST_EMAIL" in test.caption[0].value


@pytest.mark.parametrize(
    ("email", "may_look"),
    [("ann@example.org", True), ("bob@team.example", True), ("eve@example.com", False)],
)
def test_viewers_can_be_named_too(login, email, may_look):
    login(editors="ann@example.org", viewers="@team.example")
    test = run({"is_logged_in": True, "email": email, "email_verified": True})
    assert ("the datasets" in texts(test)) == may_look
    assert test.button[0].label == "Log out"

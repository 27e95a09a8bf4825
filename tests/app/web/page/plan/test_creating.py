"""What is said beside the button that creates a job, before and after."""

from cobalance.app.web.state import tasks
from cobalance.generation.recipes import RECIPES
from tests.app.conftest import OpenPage, shown_text

CREATED = "Created a job for"


def test_a_created_job_is_told_beside_its_own_plan_alone(open_page: OpenPage, cars: str) -> None:
    app = open_page("plan", planner="conbias", dataset=cars)
    app.checkbox(key="_without_images").check()
    app.button(key="_plan_create").click().run()
    task = tasks.find(f"job {cars}")
    assert task is not None
    assert task.wait(300)
    assert CREATED in shown_text(app.run())
    assert CREATED not in shown_text(open_page("plan", planner="conbias", dataset=cars))


def test_shapes_are_said_not_to_train_a_model(open_page: OpenPage, cars: str) -> None:
    app = open_page("plan", planner="conbias", dataset=cars)
    caution = RECIPES["procedural"].caution
    assert "not to train on" in caution
    assert caution in shown_text(app)
    app.selectbox(key="recipe").select("inpaint").run()
    assert "not to train on" not in shown_text(app)

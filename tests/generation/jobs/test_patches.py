"""Objects that are pasted are of the classes of the images that are edited."""

import pytest

from cobalance.base.errors import OptionError
from cobalance.generation.backends import BACKENDS
from cobalance.generation.jobs.patches import check_patches, needs_patch


def test_one_backend_takes_objects_of_other_images():
    assert [name for name in BACKENDS if needs_patch(name)] == ["patch"]


@pytest.mark.parametrize("classes", [set(), {"woman", "dog"}])
def test_a_group_without_images_is_refused(classes):
    said = "none of these is of the class 'man' .* with plan.groups; or take a recipe"
    with pytest.raises(OptionError, match=said):
        check_patches("patch", ["man", "woman"], classes)
    check_patches("patch", ["dog", "woman"], {"woman", "dog"})
    check_patches("patch", [], classes)

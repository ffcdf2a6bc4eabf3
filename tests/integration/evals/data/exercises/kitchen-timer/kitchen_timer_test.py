import pytest
from clock_face import face

from kitchen_timer import FULL, Timer


@pytest.mark.task(taskno=1)
def test_ticks():
    timer = Timer(5)
    timer.tick()
    assert timer.show() == face(4)


@pytest.mark.skip("extra")
def test_extra():
    assert Timer(99).show() == face(FULL)

import pytest


@pytest.fixture
def hundred() -> int:
    return 100

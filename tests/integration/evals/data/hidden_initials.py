import people


def test_hidden_two_names():
    assert people.initials("Ada Lovelace") == "A.L."

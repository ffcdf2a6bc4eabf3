import unittest

from counting_sheep import (
    count,
)


class CountingSheepTest(unittest.TestCase):
    def test_two(self):
        self.assertEqual(count(2), "1 sheep, 2 sheep")

    def test_goats(self):
        self.assertEqual(count(1, "goat"), "1 goat")

    def test_none(self):
        with self.assertRaises(ValueError) as err:
            count(0)
        self.assertEqual(err.exception.args[0], "nothing to count")

"""Right programs in two forms, and mistakes in the first one as replaced text."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    """`mistakes` are pairs: a text of `right`, and what a wrong program has there."""

    name: str
    interface: str
    right: str
    other: str
    tests: str
    mistakes: tuple[tuple[str, str], ...]
    inputs: str = ""
    text: str = ""


def _case(
    name: str, interface: str, right: str, other: str, tests: str, *mistakes: str, **more: str
) -> Case:
    pairs = tuple((old, new) for old, _, new in (item.partition(" => ") for item in mistakes))
    return Case(name, interface, right, other, tests, pairs, **more)


CASES = (
    _case(
        "clamp",
        "def clamp(value: int, low: int, high: int) -> int: ...",
        "def clamp(value, low, high):\n    return max(low, min(value, high))",
        "def clamp(value, low, high):\n    if value < low:\n        return low\n"
        "    return high if value > high else value",
        "assert clamp(5, 0, 3) == 3",
        "max(low, min(value, high)) => min(value, high)",
        "max(low, min(value, high)) => max(low, min(value, high - 1))",
        inputs="def allowed(value, low, high):\n    return low <= high",
    ),
    _case(
        "initials",
        "def initials(name: str) -> str: ...",
        "def initials(name):\n    return ''.join(word[0].upper() for word in name.split())",
        "def initials(name):\n    out = ''\n    for word in name.split():\n        out += word[:1].upper()\n    return out",
        "assert initials('ada lovelace') == 'AL'",
        "name.split() => name.split(' ')",
        ".upper() => ",
    ),
    _case(
        "mean",
        "def mean(values: list[float]) -> float: ...",
        "def mean(values):\n    if not values:\n        raise ValueError('empty')\n    return sum(values) / len(values)",
        "def mean(values):\n    total = 0.0\n    for item in reversed(values):\n        total += item\n"
        "    if not len(values):\n        raise ValueError('no values')\n    return total / len(values)",
        "assert mean([1.0, 2.0]) == 1.5",
        "raise ValueError('empty') => return 0.0",
        "raise ValueError('empty') => raise LookupError('empty')",
        "sum(values) / len(values) => sum(values) // len(values)",
        text="Raises ValueError for no values.",
    ),
    _case(
        "unique",
        "def unique(items: list[int]) -> list[int]: ...",
        "def unique(items):\n    return list(dict.fromkeys(items))",
        "def unique(items):\n    out = []\n    for item in items:\n        if item not in out:\n            out.append(item)\n    return out",
        "assert unique([2, 1, 2]) == [2, 1]",
        "list(dict.fromkeys(items)) => sorted(set(items))",
        "list(dict.fromkeys(items)) => tuple(dict.fromkeys(items))",
        "list(dict.fromkeys(items)) => [x for at, x in enumerate(items) if items[at - 1] != x or at == 0]",
    ),
    _case(
        "sort_in_place",
        "def sort_in_place(items: list[int]) -> None: ...",
        "def sort_in_place(items):\n    items.sort()",
        "def sort_in_place(items):\n    items[:] = sorted(items)",
        "items = [2, 1]\n    sort_in_place(items)\n    assert items == [1, 2]\n    assert sort_in_place([3, 1]) is None",
        "items.sort() => items.sort(reverse=True)",
        "items.sort() => pass",
    ),
    _case(
        "longest",
        "def longest(words: list[str]) -> str | None: ...",
        "def longest(words):\n    return max(words, key=len, default=None)",
        "def longest(words):\n    best = None\n    for word in words:\n        if best is None or len(word) > len(best):\n            best = word\n    return best",
        "assert longest(['a', 'bcd', 'ef']) == 'bcd'",
        "max(words, key=len, default=None) => max(words, key=len, default='')",
        "max(words, key=len, default=None) => max(reversed(words), key=len, default=None)",
        "max(words, key=len, default=None) => sorted(words)[-1] if words else None",
    ),
    _case(
        "count_words",
        "def count_words(text: str) -> dict[str, int]: ...",
        "def count_words(text):\n    counts = {}\n    for word in text.lower().split():\n        counts[word] = counts.get(word, 0) + 1\n    return counts",
        "import collections\n\ndef count_words(text):\n    return dict(collections.Counter(sorted(text.lower().split())))",
        "assert count_words('a b A') == {'a': 2, 'b': 1}",
        "text.lower().split() => text.split()",
        "counts.get(word, 0) + 1 => 1",
    ),
    _case(
        "price",
        "def price(amounts: list[int]) -> int: ...",
        "def price(amounts):\n    total = sum(amounts) * 800\n    return total * 95 // 100 if len(amounts) > 3 else total",
        "def price(amounts):\n    total = 0\n    for amount in amounts:\n        total += 800 * amount\n"
        "    if len(amounts) >= 4:\n        total = total * 95 // 100\n    return total",
        "assert price([1, 1]) == 1600",
        "len(amounts) > 3 => len(amounts) > 4",
        "sum(amounts) * 800 => sum(amounts) * 8.0",
        inputs="def inputs(rng):\n    while True:\n        yield ([rng.randint(1, 5) for _ in range(rng.randint(0, 6))],)",
        text="More than 3 books: 5 percent less.",
    ),
    _case(
        "leap",
        "def leap(year: int) -> bool: ...",
        "def leap(year):\n    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)",
        "def leap(year):\n    if year % 400 == 0:\n        return True\n    return not year % 4 and bool(year % 100)",
        "assert leap(2024)\n    assert not leap(2023)",
        " or year % 400 == 0 => ",
        "(year % 100 != 0 or year % 400 == 0) => True",
        "return year % 4 == 0 => return 1 if not 0 else year % 4 == 0",
        text="Divisible by 4, not by 100, unless by 400.",
    ),
    _case(
        "chunks",
        "from collections.abc import Iterator\n\ndef chunks(items: list[int], size: int) -> Iterator[list[int]]: ...",
        "def chunks(items, size):\n    if size < 1:\n        raise ValueError('size')\n    for at in range(0, len(items), size):\n        yield items[at : at + size]",
        "def chunks(items, size):\n    if size <= 0:\n        raise ValueError(f'not {size}')\n    items = list(items)\n    while items:\n        yield items[:size]\n        items = items[size:]",
        "assert list(chunks([1, 2, 3], 2)) == [[1, 2], [3]]",
        "range(0, len(items), size) => range(0, len(items) - size + 1, size)",
        "size < 1 => size < -9",
        text="Raises ValueError where size is below 1.",
    ),
    _case(
        "fetch",
        "async def fetch(key: str, known: dict[str, int]) -> int: ...",
        "async def fetch(key, known):\n    return known[key]",
        "import asyncio\n\nasync def fetch(key, known):\n    await asyncio.sleep(0)\n    if key not in known:\n        raise KeyError('unknown')\n    return known[key]",
        "import asyncio\n    assert asyncio.run(fetch('a', {'a': 1})) == 1",
        "known[key] => known.get(key)",
        "known[key] => known[key.lower()]",
        inputs="def inputs(rng):\n    for key in 'abcAB':\n        yield key, {'a': 1, 'B': 2}",
        text="Raises KeyError.",
    ),
    _case(
        "parse",
        "class ParseError(ValueError): ...\n\ndef parse(text: str) -> tuple[int, ...]: ...",
        "class ParseError(ValueError):\n    pass\n\ndef parse(text):\n    try:\n        return tuple(int(part) for part in text.split(','))\n"
        "    except ValueError:\n        raise ParseError(text) from None",
        "class ParseError(ValueError):\n    def __init__(self, text):\n        super().__init__('bad ' + text)\n\n"
        "def parse(text):\n    found = []\n    for part in text.split(','):\n        try:\n            found.append(int(part))\n"
        "        except ValueError as error:\n            raise ParseError(text) from error\n    return tuple(found)",
        "assert parse('1,2') == (1, 2)",
        "return tuple(int(part) => return list(int(part)",
        "raise ParseError(text) from None => raise",
        "for part in text.split(',') => for part in text.split(',') if part",
        text="Raises ParseError for anything else.",
    ),
    _case(
        "stack",
        "class Stack:\n    def __init__(self, limit: int = 3) -> None: ...\n    def push(self, item: int) -> None: ...\n"
        "    def pop(self) -> int: ...\n    def size(self) -> int: ...",
        "class Stack:\n    def __init__(self, limit=3):\n        self._items, self._limit = [], limit\n"
        "    def push(self, item):\n        if len(self._items) >= self._limit:\n            raise OverflowError('full')\n        self._items.append(item)\n"
        "    def pop(self):\n        if not self._items:\n            raise IndexError('empty')\n        return self._items.pop()\n"
        "    def size(self):\n        return len(self._items)",
        "import collections\n\nclass Stack:\n    def __init__(self, limit=3):\n        self.store, self.left = collections.deque(), limit\n"
        "    def push(self, item):\n        if self.left < 1:\n            raise OverflowError\n        self.left -= 1\n        self.store.appendleft(item)\n"
        "    def pop(self):\n        item = self.store.popleft()\n        self.left += 1\n        return item\n"
        "    def size(self):\n        return len(self.store)",
        "stack = Stack(2)\n    stack.push(1)\n    stack.push(2)\n    assert stack.pop() == 2\n    assert stack.size() == 1",
        "len(self._items) >= self._limit => len(self._items) > self._limit",
        "self._items.pop() => self._items.pop(0)",
        "raise IndexError('empty') => return None",
        "return len(self._items) => return self._limit - 1",
        text="OverflowError where it is full, IndexError where it is empty.",
    ),
    _case(
        "account",
        "class Account:\n    balance: int\n    def __init__(self) -> None: ...\n    def deposit(self, cents: int) -> int: ...\n"
        "    def withdraw(self, cents: int) -> int: ...",
        "class Account:\n    def __init__(self):\n        self.balance = 0\n    def deposit(self, cents):\n        if cents <= 0:\n            raise ValueError(cents)\n"
        "        self.balance += cents\n        return self.balance\n    def withdraw(self, cents):\n        if cents > self.balance:\n            raise ValueError(cents)\n"
        "        self.balance -= cents\n        return self.balance",
        "class Account:\n    def __init__(self):\n        self._log = []\n    @property\n    def balance(self):\n        return sum(self._log)\n"
        "    def deposit(self, cents):\n        if not cents > 0:\n            raise ValueError('more')\n        self._log.append(cents)\n        return self.balance\n"
        "    def withdraw(self, cents):\n        if self.balance < cents:\n            raise ValueError('less')\n        self._log.append(-cents)\n        return self.balance",
        "account = Account()\n    account.deposit(5)\n    assert account.withdraw(2) == 3\n    assert account.balance == 3",
        "cents > self.balance => cents >= self.balance",
        "cents <= 0 => cents < 0",
        "cents > self.balance => cents > self.balance + 1",
        inputs="def inputs(rng):\n    while True:\n        steps = [('Account',)]\n        for _ in range(rng.randint(1, 5)):\n"
        "            steps.append((rng.choice(['deposit', 'withdraw']), rng.randint(-1, 6)))\n        yield steps\n"
        "def allowed(*arguments):\n    return True",
        text="ValueError for amounts of nought or less, and for more than there is. 1 cent is allowed.",
    ),
    _case(
        "distance",
        "def distance(a: tuple[float, float], b: tuple[float, float]) -> float: ...",
        "import math\n\ndef distance(a, b):\n    return math.hypot(a[0] - b[0], a[1] - b[1])",
        "def distance(a, b):\n    return ((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2) ** 0.5",
        "assert distance((0.0, 0.0), (3.0, 4.0)) == 5.0",
        "math.hypot(a[0] - b[0], a[1] - b[1]) => abs(a[0] - b[0]) + abs(a[1] - b[1])",
        "math.hypot(a[0] - b[0], a[1] - b[1]) => round(math.hypot(a[0] - b[0], a[1] - b[1]), 2)",
    ),
    _case(
        "ratio",
        "def ratio(a: float, b: float) -> float: ...",
        "import math\n\ndef ratio(a, b):\n    return math.nan if b == 0 else a / b",
        "def ratio(a, b):\n    try:\n        return a / b\n    except ZeroDivisionError:\n        return float('nan')",
        "assert ratio(1.0, 2.0) == 0.5",
        "math.nan if b == 0 else a / b => 0.0 if b == 0 else a / b",
        "math.nan if b == 0 else a / b => a / b",
    ),
    _case(
        "groups",
        "def groups(pairs: list[tuple[str, int]]) -> dict[str, set[int]]: ...",
        "def groups(pairs):\n    found = {}\n    for key, value in pairs:\n        found.setdefault(key, set()).add(value)\n    return found",
        "def groups(pairs):\n    keys = sorted({key for key, _ in pairs})\n    return {key: {value for other, value in pairs if other == key} for key in keys}",
        "assert groups([('a', 1), ('a', 2)]) == {'a': {1, 2}}",
        "found.setdefault(key, set()).add(value) => found[key] = {value}",
        "set()).add(value) => []).append(value)",
    ),
    _case(
        "wrap",
        "def wrap(text: str, width: int) -> list[str]: ...",
        "def wrap(text, width):\n    lines, line = [], ''\n    for word in text.split():\n"
        "        if line and len(line) + 1 + len(word) > width:\n            lines.append(line)\n            line = word\n"
        "        else:\n            line = f'{line} {word}' if line else word\n    return [*lines, line] if line else lines",
        "def wrap(text, width):\n    words, lines = text.split(), []\n    while words:\n        line = words.pop(0)\n"
        "        while words and len(line + ' ' + words[0]) <= width:\n            line += ' ' + words.pop(0)\n        lines.append(line)\n    return lines",
        "assert wrap('aa bb cc', 5) == ['aa bb', 'cc']",
        "len(line) + 1 + len(word) > width => len(line) + len(word) > width",
        "[*lines, line] if line else lines => [*lines, line]",
    ),
    _case(
        "roman",
        "def roman(number: int) -> str: ...",
        "def roman(number):\n    out = ''\n    for value, sign in ((10, 'X'), (9, 'IX'), (5, 'V'), (4, 'IV'), (1, 'I')):\n"
        "        while number >= value:\n            out += sign\n            number -= value\n    return out",
        "def roman(number):\n    tens, ones = divmod(number, 10)\n    return 'X' * tens + ['', 'I', 'II', 'III', 'IV', 'V', 'VI', 'VII', 'VIII', 'IX'][ones]",
        "assert roman(3) == 'III'\n    assert roman(12) == 'XII'",
        "(9, 'IX'),  => ",
        "(4, 'IV'),  => ",
        inputs="def allowed(number):\n    return 0 < number < 60",
    ),
    _case(
        "slugs",
        "def slug(title: str) -> str: ...",
        "import re\n\ndef slug(title):\n    return re.sub(r'[^a-z0-9]+', '-', title.lower()).strip('-')",
        "def slug(title):\n    kept = ''.join(c if c in 'abcdefghijklmnopqrstuvwxyz0123456789' else ' ' for c in title.lower())\n    return '-'.join(kept.split())",
        "assert slug('Hello World') == 'hello-world'",
        "+', '-', => ', '-',",
        ".strip('-') => ",
        "[^a-z0-9] => [^a-z]",
    ),
    _case(
        "rotate",
        "def rotate(items: list[int], by: int = 1) -> list[int]: ...",
        "def rotate(items, by=1):\n    if not items:\n        return []\n    by %= len(items)\n    return items[-by:] + items[:-by] if by else items[:]",
        "import collections\n\ndef rotate(items, by=1):\n    found = collections.deque(items)\n    found.rotate(by)\n    return list(found)",
        "assert rotate([1, 2, 3]) == [3, 1, 2]",
        "    by %= len(items)\n => ",
        "if by else items[:] => if by else items[1:]",
    ),
    _case(
        "merge",
        "def merge(left: dict[str, int], right: dict[str, int]) -> dict[str, int]: ...",
        "def merge(left, right):\n    return {**left, **right}",
        "def merge(left, right):\n    found = dict(right)\n    for key in left:\n        found.setdefault(key, left[key])\n    return found",
        "assert merge({'a': 1}, {'b': 2}) == {'a': 1, 'b': 2}",
        "{**left, **right} => {**right, **left}",
        "return {**left, **right} => left.update(right)\n    return left",
    ),
    _case(
        "evens",
        "from collections.abc import Iterable\n\ndef evens(items: Iterable[int]) -> Iterable[int]: ...",
        "def evens(items):\n    for item in items:\n        if item % 2 == 0:\n            yield item",
        "def evens(items):\n    return filter(lambda item: not item & 1, items)",
        "assert list(evens([1, 2, 4])) == [2, 4]",
        "item % 2 == 0 => item % 2 == 0 and item",
        "yield item => yield from (item, item)",
    ),
    _case(
        "split_bill",
        "def split_bill(cents: int, people: int) -> list[int]: ...",
        "def split_bill(cents, people):\n    if people < 1:\n        raise ValueError('nobody')\n    share, rest = divmod(cents, people)\n"
        "    return [share + 1] * rest + [share] * (people - rest)",
        "def split_bill(cents, people):\n    if people <= 0:\n        raise ValueError('people')\n"
        "    return [cents // people + (at < cents % people) for at in range(people)]",
        "assert split_bill(10, 3) == [4, 3, 3]",
        "[share + 1] * rest + [share] * (people - rest) => [share] * (people - rest) + [share + 1] * rest",
        "return [share + 1] * rest => return [share] * rest",
        inputs="def allowed(cents, people):\n    return cents >= 0 and people < 1000",
        text="ValueError where there is nobody.",
    ),
    _case(
        "encode",
        "def encode(data: bytes) -> str: ...",
        "def encode(data):\n    return data.hex()",
        "def encode(data):\n    return ''.join(f'{byte:02x}' for byte in data)",
        "assert encode(b'az') == '617a'",
        "data.hex() => ''.join(f'{byte:x}' for byte in data)",
        "data.hex() => data.hex().upper()",
    ),
    _case(
        "points",
        "from dataclasses import dataclass\n\n@dataclass\nclass Point:\n    x: int\n    y: int\n\ndef shift(point: Point, by: int) -> Point: ...",
        "from dataclasses import dataclass\n\n@dataclass\nclass Point:\n    x: int\n    y: int\n\ndef shift(point, by):\n    return Point(point.x + by, point.y + by)",
        "from dataclasses import dataclass\n\n@dataclass\nclass Point:\n    x: int\n    y: int\n\ndef shift(point, by):\n    moved = [value + by for value in (point.x, point.y)]\n    return Point(*moved)",
        "assert shift(Point(1, 2), 3) == Point(4, 5)",
        "point.y + by => point.y - by",
        "point.y + by => point.y + abs(by)",
    ),
    _case(
        "flatten",
        "def flat(items, depth=None): ...",
        "def flat(items, depth=None):\n    found = []\n    for item in items:\n"
        "        if isinstance(item, (list, tuple)) and depth != 0:\n"
        "            found += flat(item, None if depth is None else depth - 1)\n"
        "        else:\n            found.append(item)\n    return found",
        "def flat(items, depth=None):\n    if depth == 0:\n        return list(items)\n    found = []\n"
        "    left = depth - 1 if depth is not None else None\n    for item in items:\n"
        "        found.extend(flat(item, left) if isinstance(item, (list, tuple)) else [item])\n"
        "    return found",
        "assert flat([1, [2, 3]]) == [1, 2, 3]",
        "depth - 1 => depth",
        "(list, tuple) => list",
    ),
    _case(
        "distinct",
        "def distinct(items: list, key: Callable | None = None) -> list: ...",
        "def distinct(items, key=None):\n    found = {}\n    for item in items:\n"
        "        found.setdefault(item if key is None else key(item), item)\n"
        "    return list(found.values())",
        "def distinct(items, key=None):\n    marks, found = [], []\n    for item in items:\n"
        "        mark = item if key is None else key(item)\n        if mark not in marks:\n"
        "            marks.append(mark)\n            found.append(item)\n    return found",
        "assert distinct([1, 1, 2]) == [1, 2]",
        "found.setdefault(item if key is None else key(item), item) => "
        "found[item if key is None else key(item)] = item",
    ),
    _case(
        "notes",
        "def count_beats(notes: str) -> int: ...",
        "BEATS = {'o': 4, 'o|': 2, '.|': 1}\n\ndef count_beats(notes):\n"
        "    return sum(BEATS[item] for item in notes.split())",
        "def count_beats(notes):\n    total = 0\n    for item in notes.split():\n"
        "        total += {'o': 4, 'o|': 2, '.|': 1}[item]\n    return total",
        "assert count_beats('o o| .|') == 7",
        "'.|': 1 => '.|': 2",
        "BEATS[item] for item in notes.split() => BEATS[item] for item in set(notes.split())",
        inputs="def allowed(notes):\n    return all(i in ('o', 'o|', '.|') for i in notes.split())",
    ),
)

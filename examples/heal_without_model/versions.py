"""Version numbers such as 1.10.2: reading, comparing, bumping."""


def parse(text):
    """'v1.10.2' as (1, 10, 2); missing parts are 0. Raises ValueError for anything else."""
    parts = text.strip().removeprefix("v").split(".")
    if len(parts) > 3:
        raise ValueError(f"too many parts: {text!r}")
    numbers = [int(part) for part in parts]
    return tuple(numbers + [0] * (3 - len(numbers)))


def newer(one, other):
    """Whether `one` is a later version than `other`."""
    return parse(one) >= parse(other)


def latest(versions):
    """The latest of some versions, as it was written; None where there are none."""
    best = None
    for text in versions:
        if best is None or newer(text, best):
            best = text
    return best


def bump(text, part="patch"):
    """The next version: 'major', 'minor' or 'patch' counts up, what follows it starts at 0."""
    major, minor, patch = parse(text)
    if part == "major":
        return f"{major + 1}.0.0"
    if part == "minor":
        return f"{major}.{minor + 1}.0"
    if part == "patch":
        return f"{major}.{minor}.{patch + 1}"
    raise ValueError(f"no such part: {part!r}")

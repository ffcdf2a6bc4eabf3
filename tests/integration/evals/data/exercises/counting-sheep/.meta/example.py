def count(size, animal="sheep"):
    if size < 1:
        raise ValueError("nothing to count")
    return ", ".join(f"{number} {animal}" for number in range(1, size + 1))

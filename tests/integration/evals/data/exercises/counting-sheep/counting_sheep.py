def count(size, animal):
    pass

class Timer:
    def __init__(self, minutes):
        pass

    def tick(self):
        pass

    def show(self):
        pass

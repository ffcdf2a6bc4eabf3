FULL = 60


class Timer:
    def __init__(self, minutes):
        self.left = min(minutes, FULL)

    def tick(self):
        self.left = max(self.left - 1, 0)

    def show(self):
        return f"{self.left:02}:00"

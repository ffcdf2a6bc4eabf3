"""Error that is returned to the model with the next request."""


class InvalidResponse(Exception):
    """The answer does not have the required form; the text tells the model what to correct.

    `user_hint` is what the user can do where the model does not correct it.
    """

    def __init__(self, text: str, user_hint: str = "") -> None:
        super().__init__(text)
        self.user_hint = user_hint

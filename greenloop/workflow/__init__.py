"""The steps of the way of a specification, and what a run keeps between them."""

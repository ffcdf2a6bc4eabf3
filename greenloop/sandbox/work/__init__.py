"""Construction of each kind of sandbox job, and decoding of its result."""

"""Analysis of test conditions: their strength, the bounds that they set, and their narrowing."""

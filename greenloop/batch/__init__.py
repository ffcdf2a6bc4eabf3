"""Many specifications, side by side: one sandbox, one set of limits, one budget for all."""

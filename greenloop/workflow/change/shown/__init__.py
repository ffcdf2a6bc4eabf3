"""Files and tests of a project as prompts of a change show them."""

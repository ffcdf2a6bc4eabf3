"""Evidence as text: grades, survivors, differences and open questions."""

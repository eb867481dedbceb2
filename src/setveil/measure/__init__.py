"""How much was lost: measures that carry their name, goal and range, for any report to render."""

"""What somebody can find out: who matches what is known, and who has which value."""

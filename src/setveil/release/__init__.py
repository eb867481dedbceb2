"""What comes out: recodings, the single function that applies them, and the release."""

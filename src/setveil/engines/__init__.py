"""Where counting runs. A k^m method asks an engine its questions and never touches rows."""

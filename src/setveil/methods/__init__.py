"""How a guarantee is reached: one file, one method, and its docstring names the paper."""

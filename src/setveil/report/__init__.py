"""Pictures of hierarchies and releases as SVG text: no plotting library, the same bytes always.

- `palette`: the colours, told apart by everyone, and what each one means;
- `drawing`: an SVG under construction; every text is escaped, for labels are hostile;
- `tree_picture`: a hierarchy with the published labels marked, summarised where it is large.
"""

"""Results as text, pictures and pages: no plotting library, the same bytes always.

- `palette`: the colours, told apart by everyone, and what each one means;
- `drawing`: an SVG under construction; every text is escaped, for labels are hostile;
- `figure`: a finished picture, which notebooks show and which can be saved;
- `tree_picture`: a hierarchy with the published labels marked, summarised where it is large;
- `charts`: lines, bars and heat maps, with `scales` for the axes and `marks` for the series;
- `comparison`, `compare_picture`: what several methods cost on the same data;
- `frontier`, `sweep_picture`: what each strength of the promise costs;
- `public_page`, `private_page`: a release as an HTML page, for everyone and for its holder.
"""

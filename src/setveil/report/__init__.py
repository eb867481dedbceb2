"""Results as text, pictures and pages: no plotting library, the same bytes always.

- `drawing`: the colours and what each one means; an SVG under construction; every text is escaped, for
  labels are hostile; as a `Figure` it is finished, shown by notebooks and saved;
- `tree_picture`: a hierarchy with the published labels marked, summarised where it is large;
- `charts`: lines, bars and heat maps; `axes` has scales and the looks of the series;
- `comparison`: what several methods cost on the same data; `frontier`: what each strength of the
  promise costs; `risk_picture`: what is left at risk;
- `html`: elements that escape what they hold; `pages`: a release as a page for everyone, and for its
  holder.
"""

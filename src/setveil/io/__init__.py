"""How data enter and leave: the only place, the audit's own reader aside, that opens files.

`formats` has one file a format of records, `hierarchies` one a form of hierarchies, `folder` what is
published. Tables are opened in `table` and become sets in `records`, tuples in `microdata`, two data
sets in `pairs`; frames come by `frames`. Records end in a `draft.Draft`, which `draft.finish` checks
and turns into transactions. `source` and `text` check bytes before anyone looks at content.
"""

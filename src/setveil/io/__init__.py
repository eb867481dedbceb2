"""How data enter and leave: the only place, the audit's own reader aside, that opens files.

One file a format: `fimi`, `baskets`, `long`, `onehot`, `jsonl`, `parquet`, tables in `records`, frames
in `frames`. All end in a `draft.Draft`, which `draft.finish` checks and turns into transactions.
`source` and `text` check bytes before anyone looks at content; `csv_text` is the strict CSV reader.
"""

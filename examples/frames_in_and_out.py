"""Frames in, frames out: pandas, polars and DuckDB around one release.

Run it: ``python frames_in_and_out.py``. It needs pandas, polars and duckdb.
"""

from __future__ import annotations

import duckdb
import pandas as pd
import polars as pl

import setveil as sv

DRINKS = {"tea": "hot", "coffee": "hot", "juice": "cold", "milk": "cold", "hot": "ALL", "cold": "ALL"}


def main() -> None:
    sales = pd.DataFrame(
        {
            "receipt": [1, 1, 2, 2, 3, 3, 4, 4, 5, 6],
            "product": [
                "tea",
                "milk",
                "coffee",
                "milk",
                "tea",
                "juice",
                "coffee",
                "juice",
                "milk",
                "juice",
            ],
        }
    )
    baskets = sv.from_frame(sales, id_column="receipt", item_column="product")
    hierarchy = sv.Hierarchy.from_parents({**DRINKS, "ALL": None})
    release = sv.anonymize(baskets, sv.KmAnonymity(k=2, m=2), hierarchy=hierarchy)

    published = release.to_arrow()
    print(published.to_pandas())
    print(pl.from_arrow(published))
    query = """
        select label, count(*) as records
        from (select unnest(items) as label from published)
        group by all
        order by all
    """
    print(duckdb.sql(query).fetchall())


if __name__ == "__main__":
    main()

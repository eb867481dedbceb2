"""How files are read, field by field: sets, hierarchies, tables with a secret, two data sets."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..errors import UsageError
from .fields import (
    TABLE_PANEL,
    Fields,
    Text,
    Texts,
    declare,
    fields_of,
    joined,
    listed,
    refuse_stdin_twice,
    switch,
    texts,
)

if TYPE_CHECKING:
    from ..hierarchy.tree import Hierarchy
    from ..io.pairs import PatternData
    from ..model.microdata import Microdata
    from ..model.transactions import Transactions

_LEARNED = re.compile(r"group \d+\.\d+'*")
_NO_BUCKETS = "sets pairs"


class Files(Fields):
    """How any file of records is read."""

    layout: Text = declare(
        "baskets, long, onehot, fimi, jsonl or parquet; guessed if not given", fits=_NO_BUCKETS
    )
    delimiter: Text = declare("what separates fields; guessed if not given")
    encoding: Text = declare("utf-8 if not given")
    header: bool | None = declare(
        "whether the first line holds names", "--header/--no-header", fits=_NO_BUCKETS
    )
    id_column: Text = declare("column that names the person", "--id")
    item_column: Text = declare("column that holds the item", "--item", fits=_NO_BUCKETS)
    counts: bool = switch(
        "count repeats in a record: milk twice is the item 'milk x2', below milk in the hierarchy",
        fits=_NO_BUCKETS,
    )
    count_column: Text = declare(
        "column of a long table that holds the count: 2 makes 'milk x2'", fits=_NO_BUCKETS
    )
    labels: Text = declare(
        "file of id,label lines that names the items", metavar="FILE", path="file", fits=_NO_BUCKETS
    )
    empty_rows: Text = declare("error, keep or skip records without items", fits=_NO_BUCKETS)
    id_policy: Text = declare("merge rows of one person, or error", fits=_NO_BUCKETS)
    comment: Text = declare("lines that start so are comments", fits=_NO_BUCKETS)
    integers: bool = switch("items must be whole numbers", fits=_NO_BUCKETS)
    missing: Texts = texts("a value that means missing; may be repeated")
    normalize: Text = declare("NFC, NFD, NFKC or NFKD")
    strict: bool = switch("warnings about odd items are errors")
    max_bytes: int | None = declare("refuse more bytes than this")


class Cells(Fields):
    """How the cells of a table are read."""

    PANEL = TABLE_PANEL

    missing_cells: Text = declare(
        "error, suppress or category for cells without a value; of two data sets also suppress-row "
        "(leave the row out) and complete-rows (rows complete in all columns)"
    )
    as_is: bool = switch(
        "go on where cells look like lists taken for single values, or where most sensitive values are "
        "one person's; blanks after a separator are kept"
    )


class Tables(Cells):
    """Which columns of a table count, and how its cells are read."""

    PANEL = TABLE_PANEL
    FITS = "sets"

    set_columns: Texts = texts("set-valued column; may be repeated", "--set", metavar="COLUMN")
    set_separator: Texts = texts(
        "what separates items in a set-valued cell (a space if not given); one for all or one a column"
    )
    keep: Texts = texts(
        "columns to publish beside, by commas; they count as items; may be repeated", metavar="COLUMNS"
    )
    keep_unprotected: Texts = texts(
        "columns to publish as they are, by commas; the promise does NOT cover them; may be repeated",
        metavar="COLUMNS",
    )
    sensitive_column: Text = declare("column whose values are sensitive", models="lm")


class Reading(Files, Tables):
    """How records are read as sets: from a file of its own layout, or from columns of a table."""

    def read_sets(self, path: str, *, repeats: str = "once") -> Transactions:
        """Return the records of a file; `repeats` tells what repeated items are."""
        reading, table = self.given(Files), self.given(Tables)
        if not table:
            from ..io.transactions import read_transactions

            return read_transactions(path, repeats=repeats, **reading)
        if not self.set_columns:
            raise UsageError(
                "--keep, --keep-unprotected, --set-separator, --missing-cells, --sensitive-column and "
                "--as-is are for tables.",
                "Name the set-valued column: --set COLUMN.",
            )
        if reading.pop("layout", "table") != "table":
            raise UsageError("--set reads a table, so --layout does not fit.", "Leave --layout out.")
        from ..io.records import read_records

        refuse_unknown(reading, read_records)
        separators = self.set_separator or (" ",)
        if len(separators) == 1:
            separators *= len(self.set_columns)
        if len(separators) != len(self.set_columns):
            raise UsageError(
                f"{len(self.set_columns)} set-valued columns and {len(separators)} separators do not "
                "fit.",
                "Give one --set-separator for all, or one a column.",
            )
        if "missing_cells" in table:
            reading["missing_cells"] = self.missing_cells
        records = read_records(
            path,
            set_columns=dict(zip(self.set_columns, separators, strict=True)),
            keep=joined(self.keep),
            sensitive=self.sensitive_column,
            repeats=repeats,
            as_is=self.as_is,
            keep_unprotected=joined(self.keep_unprotected),
            **reading,
        )
        return records.as_transactions()


def refuse_unknown(reading: Mapping[str, Any], reader: Callable[..., object]) -> None:
    """Refuse options that a reader of tables does not have."""
    known = inspect.signature(reader).parameters
    for name in sorted(set(reading) - set(known)):
        field = next(field for field in fields_of(Files) if field.name == name)
        raise UsageError(
            f"{field.flag} does not fit a table.", "Leave it out.", code="option-does-not-fit"
        )


class Trees(Fields):
    """The hierarchies, and how their files are read."""

    PANEL = "Hierarchy"

    hierarchy: Texts = texts(
        "what generalizes what; COLUMN=FILE for tables, may be repeated",
        metavar="[COLUMN=]FILE",
        path="column",
    )
    unknown: str = declare("items not in it: error or attach-to-root", default="error", fits="sets")
    add_root: Text = declare("put this label above several roots", metavar="LABEL")
    hierarchy_format: Text = declare("paths, parents, json or amnesia")
    private_hierarchy: bool = switch(
        "it was learned from these data: publish its labels and root, nothing between",
        fits="sets",
        remedies={"pairs": "Give a hierarchy that was made without the data: it is published."},
    )
    hierarchy_delimiter: Text = declare("what separates its cells")
    hierarchy_encoding: Text = declare("utf-8 if not given")
    hierarchy_header: bool | None = declare(
        "whether its first line holds names", "--hierarchy-header/--no-hierarchy-header"
    )

    def read_tree(self, path: str) -> Hierarchy:
        from ..io.hierarchies import read_hierarchy

        options: dict[str, Any] = {
            "add_root": self.add_root,
            "format": self.hierarchy_format,
            "delimiter": self.hierarchy_delimiter,
            "encoding": self.hierarchy_encoding,
            "has_header": self.hierarchy_header,
        }
        given = {name: value for name, value in options.items() if value is not None}
        tree = read_hierarchy(path, **given)
        return replace(tree, private=True) if self.private_hierarchy else tree

    def refuse_options_alone(self) -> None:
        """Raise `UsageError` for options of hierarchy files where none is named."""
        for field in () if self.hierarchy else self.given_fields(Trees):
            if field.name not in ("unknown", "private_hierarchy"):
                raise UsageError(f"{field.flag} goes with --hierarchy.", "Give one.")


class SetsInput(Reading, Trees):
    """Records as sets, and the hierarchies of their items."""

    def tree_files(self) -> list[str]:
        """Return the files among the hierarchies named."""
        table = bool(self.set_columns)
        return [text.partition("=")[2] if table and "=" in text else text for text in self.hierarchy]

    def read_trees(self, data: Transactions) -> Hierarchy | Mapping[str, Hierarchy] | None:
        """Return the hierarchy named, or for a table one a column.

        A file without a column's name is that of the only set-valued column.
        """
        columns = data.layout.item_columns if data.layout is not None else ()
        if columns:
            names = {column.name for column in columns}
            sets = [column.name for column in columns if column.role == "set"]
            trees: dict[str, Hierarchy] = {}
            for text in self.hierarchy:
                column, sign, path = text.partition("=")
                if not sign and len(sets) == 1:
                    column, path = sets[0], text
                elif not sign or column not in names:
                    raise UsageError(
                        f"--hierarchy {text!r} does not name a column of the table.",
                        f"Give COLUMN=FILE, with a column of: {', '.join(sorted(names))}.",
                    )
                if column in trees:
                    raise UsageError(f"two hierarchies are given for the column {column[:40]!r}.")
                trees[column] = self.read_tree(path)
            return trees
        if len(self.hierarchy) > 1:
            raise UsageError("several hierarchies are for tables.", "Give one.")
        if not self.hierarchy:
            return None
        found = self.read_tree(self.hierarchy[0])
        if self.counts or self.count_column:
            from ..hierarchy.build import with_counts

            return with_counts(found, data.vocabulary.labels)
        return found


def input_files(
    asked: SetsInput | Reading, *others: str | None, lists: Sequence[str] = ()
) -> list[str]:
    """Return the files that are read, standard input aside; that may be named once.

    Hierarchies and labels are files too, and so is ``@FILE`` among `lists` of items.
    """
    trees = asked.tree_files() if isinstance(asked, SetsInput) else []
    named = [*others, *trees, asked.labels]
    refuse_stdin_twice([*named, *(text[1:] for text in lists if text.startswith("@"))])
    return [name for name in named if name and name != "-"]


def looks_learned(hierarchy: Hierarchy | Mapping[str, Hierarchy]) -> bool:
    """Tell whether categories are named as `setveil hierarchy learn` names them."""
    trees = hierarchy.values() if isinstance(hierarchy, Mapping) else (hierarchy,)
    return any(_LEARNED.fullmatch(label) for tree in trees for label in tree.labels[tree.n_leaves :])


class Intervals(Fields):
    """Intervals for columns of numbers."""

    PANEL = "Hierarchy"
    FITS = "buckets"

    intervals: Texts = texts(
        "intervals for a column of numbers, such as age=0,20,40; repeat it for coarser ones",
        metavar="COLUMN=EDGES",
    )


class Quasi(Fields):
    """The columns by which people may be recognised."""

    PANEL = TABLE_PANEL
    FITS = "buckets"

    quasi: Texts = texts(
        "columns by which people may be recognised, by commas; may be repeated", metavar="COLUMNS"
    )


class SecretTable(Quasi, Intervals, Files, Cells, Trees):
    """A table with a column that nobody shall learn; `sensitive` is declared by who inherits."""

    @property
    def secret(self) -> str | None:
        raise NotImplementedError

    def quasi_columns(self) -> tuple[str, ...]:
        """Return the columns named; `UsageError` where none or no sensitive one is."""
        names = joined(self.quasi)
        if not names or not all(names):
            raise UsageError(
                "no quasi-identifying column is named." if not names else "a column has no name.",
                "Name the columns by which people may be recognised: --quasi age,sex.",
            )
        if not self.secret:
            raise UsageError(
                "no sensitive column is named.", "Name the one to protect: --sensitive disease."
            )
        return names

    def column_trees(self) -> dict[str, str]:
        """Return the file of each column that has a hierarchy."""
        files: dict[str, str] = {}
        for column, path in _of_columns("--hierarchy", self.hierarchy, self.quasi_columns(), "FILE"):
            if column in files:
                raise UsageError(
                    f"two hierarchies are given for the column {column[:40]!r}.", "Give one."
                )
            files[column] = path
        self.refuse_options_alone()
        return files

    def read_table(self, path: str) -> Microdata:
        quasi = self.quasi_columns()
        intervals: dict[str, list[list[str]]] = {}
        for column, edges in _of_columns("--intervals", self.intervals, quasi, "EDGES"):
            intervals.setdefault(column, []).append(edges.split(","))
        trees = {column: self.read_tree(file) for column, file in self.column_trees().items()}
        assert self.secret is not None
        from ..io.microdata import read_microdata

        return read_microdata(
            path,
            quasi=quasi,
            sensitive=self.secret,
            hierarchies=trees,
            intervals=intervals,
            **self.given(Files),
            **self.given(Cells),
        )


def _of_columns(
    flag: str, given: Sequence[str], quasi: Sequence[str], what: str
) -> list[tuple[str, str]]:
    """Return column and text of each ``COLUMN=TEXT``; a column's name may itself hold ``=``."""
    found = []
    for text in given:
        fitting = [name for name in quasi if text.startswith(f"{name}=") and len(text) > len(name) + 1]
        if not fitting:
            raise UsageError(
                f"{flag} {text[:60]!r} does not name a quasi-identifying column.",
                f"Give COLUMN={what}, with a column of: {', '.join(name[:40] for name in quasi)}.",
            )
        column = max(fitting, key=len)
        found.append((column, text[len(column) + 1 :]))
    return found


class TwoSets(Files, Cells):
    """Two data sets: two files, or a table that one column splits."""

    PANEL = "Data sets"
    FITS = "pairs"

    against: Text = declare(
        "the second data set, of the same kind as DATA", metavar="FILE", path="file"
    )
    class_column: Text = declare(
        "instead of --against: DATA is a table, split in two by the values of this column",
        metavar="COLUMN",
    )
    classes: Texts = texts(
        "with --class-column: the two values to compare, by a comma, or the option twice", metavar="A,B"
    )
    table: bool = switch(
        "with --against: both are tables, every cell the item column=value", panel=TABLE_PANEL
    )
    attributes: Texts = texts(
        "columns of tables that count, by commas; may be repeated; all but the class if not given",
        panel=TABLE_PANEL,
        metavar="COLUMNS",
    )

    @property
    def is_table(self) -> bool:
        return bool(self.table or self.attributes or self.class_column is not None)

    def check_two(self, data: str) -> list[str]:
        """Refuse what does not go together, before anything is read; return the files."""
        against, column = self.against, self.class_column
        if (against is None) == (column is None):
            raise UsageError(
                "two data sets are needed." if against is None else "there are too many data sets.",
                "Give either a second file (--against FILE) or the column that splits one table "
                "(--class-column COLUMN).",
                code="not-two-data-sets",
            )
        if self.classes and column is None:
            raise UsageError("--classes goes with --class-column.", "Name the column.")
        if self.missing_cells is not None and not self.is_table:
            raise UsageError("--missing-cells is for tables.", "Say that these are some: --table.")
        if self.as_is and not self.is_table:
            raise UsageError("--as-is is for tables.", "Say that these are some: --table.")
        self._attributes()
        if self.is_table:
            from ..io.pairs import read_cells

            refuse_unknown(self.given(Files), read_cells)
        if data == against and data != "-":
            raise UsageError("both data sets are the same file.", "Give another one (--against).")
        return [name for name in (data, against, self.labels) if name]

    def read_two(self, data: str, *, repeats: str = "once") -> PatternData:
        """Return both data sets; `repeats` tells what repeated items of sets are."""
        from ..io.pairs import read_attribute_tables, read_classes

        reading = self.given(Files)
        if not self.is_table:
            from ..io.pairs import read_sets

            assert self.against is not None
            return read_sets(data, self.against, repeats=repeats, **reading)
        if self.missing_cells is not None:
            reading["missing_cells"] = self.missing_cells
        reading |= {"attributes": self._attributes(), "as_is": self.as_is}
        if self.class_column is None:
            assert self.against is not None
            return read_attribute_tables(data, self.against, **reading)
        classes: Sequence[str] | None = self.classes or None
        if classes is not None and len(classes) == 1:
            classes = listed(classes[0])
        return read_classes(data, class_column=self.class_column, classes=classes, **reading)

    def _attributes(self) -> list[str] | None:
        """Return the columns that are named; an empty name is a slip, and must not mean all of them."""
        names = [name for text in self.attributes for name in listed(text) or [""]]
        if not all(names):
            raise UsageError(
                "--attributes names a column without a name.",
                "Give the columns by commas, or leave it out for all of them.",
                code="empty-column-name",
            )
        return names or None


def warn_of_nothing_shared(pair: PatternData) -> list[str]:
    """Return a warning where two data sets can hardly be compared."""
    first, second = (set(data.vocabulary.labels) for data in (pair.first, pair.second))
    if first & second:
        return []
    return [
        "the data sets have no item in common, so every pattern is jumping; are these two of a kind?"
    ]

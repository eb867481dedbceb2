"""The frozen jobs as plain data: the files a job begins with, and the commands it runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from .inputs import (
    EDUCATION,
    ITEMS,
    PATHS,
    ZIPS,
    as_baskets,
    as_fimi,
    as_jsonl,
    as_long,
    as_onehot,
    as_rows,
    baskets,
    incomes,
    patients,
    people,
)


@dataclass(frozen=True)
class Job:
    """Files by name, command lines after the program's name, and releases with pages kept whole."""

    files: Mapping[str, str]
    commands: tuple[str, ...]
    pages: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)


SHOP = {"products.csv": PATHS}
TREE = "--hierarchy products.csv"


def looks(original: str, label: str, reading: str = "") -> tuple[str, ...]:
    """Return what every release of sets can be asked."""
    return (
        "audit out --json",
        f"measure out --original {original} {reading} --measures ncp,lm,suppressed --json",
        "risk out --most 1 --json",
        f"explain out {label} --original {original} {reading} --json",
    )


_TRIM = f"baskets.csv {TREE} -k 3 -m 2 --weights weights.csv"
TRIM = Job(
    files={
        **SHOP,
        "baskets.csv": as_baskets(baskets(1, 60, most=3)),
        "new.csv": as_baskets(baskets(2, 12, most=3)),
        "odd.csv": "milk,bun,ale,cola,rye\ncaviar\n",
        "weights.csv": "wine,5\nbrie,2\n",
        "queries.csv": "milk\ndrinks,bun\n",
    },
    commands=(
        f"anonymize {_TRIM} --method trim --dry-run",
        f"anonymize {_TRIM} --method trim --dry-run --json",
        f"anonymize {_TRIM} --method trim -o out --save-job job.toml --json",
        "run job.toml --json",
        "run job.toml --force --dry-run --json",
        "run job.toml --force --json",
        *looks("baskets.csv", "wine brie"),
        "audit out --mode cover --json",
        "risk out --json",
        "audit baskets.csv -k 3 -m 2 --witnesses 2 --json",
        "audit - --layout baskets -k 2 -m 1 --json < new.csv",
        "measure out --original baskets.csv --by-branch --top 2 --json",
        "measure out --original baskets.csv --measures all --support 20% --queries queries.csv --json",
        "risk out --original baskets.csv --most 2 --top 2 --json",
        "risk baskets.csv -k 3 --most 1 --top 1 --quick --json",
        "sweep baskets.csv -k 2,3 -m 1,2 --hierarchy products.csv -o sweep.json --json",
        "report out --original baskets.csv --sweep sweep.json -o page.html --json",
        "report out --original baskets.csv -o plain.html --json",
        f"compare {_TRIM} --methods trim,optimal,aa,hghs --json",
        "apply out new.csv -o both --no-report --json",
        "apply out odd.csv -o never --json",
        "apply out odd.csv --unseen suppress -o never --json",
        f"mine itemsets baskets.csv --min-support 20% {TREE} --kind closed --json",
        "mine patterns baskets.csv --against new.csv --growth 3 --layout baskets --json",
        "run job.toml --force --verbose",
        "-m setveil.audit out",
        "audit out",
        "measure out --original baskets.csv",
        "risk out",
        "explain out wine --original baskets.csv",
        f"compare {_TRIM} --methods trim,aa",
        f"sweep baskets.csv -k 2,3 -m 1,2 {TREE} --choose 2,2 --csv",
        f"mine itemsets baskets.csv --min-support 20% {TREE} --top 3",
    ),
    pages=("out",),
)

OPTIMAL = Job(
    files={**SHOP, "long.csv": as_long(baskets(3, 40))},
    commands=(
        f"anonymize long.csv --id person --item what {TREE} -k 4 -m 2 --method optimal --cost lm "
        "--domain hierarchy -o out --json",
        *looks("long.csv", "cola", "--id person --item what"),
        "report out --json",
        f"compare long.csv --id person --item what {TREE} -k 4 -m 2 --methods optimal,vpa "
        "--domain hierarchy --save-job best.toml -o best --json",
    ),
    environment={"SOURCE_DATE_EPOCH": "86400"},
)

NEGATIVE = Job(
    files={**SHOP, "onehot.csv": as_onehot(baskets(4, 40))},
    commands=(
        f"anonymize onehot.csv --layout onehot {TREE} -k 2 -m 2 --negative --method aa -o out --json",
        *looks("onehot.csv", "rye", "--layout onehot"),
        "apply out onehot.csv --layout onehot -o both --no-report --json",
    ),
)

LOCAL = Job(
    files={
        **SHOP,
        "data.dat": as_fimi(baskets(5, 40, ITEMS[:9]), ITEMS),
        "labels.csv": "".join(f"{at},{item}\n" for at, item in enumerate(ITEMS[:9])),
    },
    commands=(
        f"anonymize data.dat --labels labels.csv {TREE} -k 3 -m 2 --method lra --parts 2 "
        "--inner optimal -o out --json",
        *looks("data.dat", "ale", "--labels labels.csv"),
        "apply out data.dat --labels labels.csv -o both --no-report --json",
    ),
)

VERTICAL = Job(
    files={**SHOP, "data.jsonl.gz": as_jsonl(baskets(6, 40))},
    commands=(
        f"anonymize data.jsonl.gz {TREE} -k 3 -m 2 --method vpa --parts 2 -o out --json",
        *looks("data.jsonl.gz", "milk"),
        "audit out/data.jsonl.gz -k 3 -m 2 --json",
    ),
)

HGHS = Job(
    files={**SHOP, "data.parquet": as_rows(baskets(7, 40))},
    commands=(
        f"anonymize data.parquet {TREE} -k 3 -m 2 --method hghs -o out --json",
        *looks("data.parquet", "soap"),
        f"anonymize data.parquet {TREE} -k 3 -m 2 --method mhghs --format baskets -o text --no-report "
        "--json",
    ),
)

SETS = "--set drugs --set-separator '|' --keep sex,city --missing-cells category"
KEEPING = f"{SETS} --keep-unprotected note"
DRUGS = "--hierarchy drugs=drugs.csv"
PARTITION = Job(
    files={
        "people.csv": people(8, 36),
        "new.csv": people(9, 6),
        "drugs.csv": "ale;drink;ALL\nwine;drink;ALL\nmilk;drink;ALL\nbun;bread;ALL\nrye;bread;ALL\n",
    },
    commands=(
        f"anonymize people.csv {KEEPING} {DRUGS} --guarantee k -k 3 -o out --json",
        *looks("people.csv", "drugs=ale city=Ulm", KEEPING),
        f"apply out new.csv {KEEPING} -o both --json",
        f"anonymize people.csv {SETS} {DRUGS} -k 2 -m 2 --method optimal --format jsonl -o km "
        "--no-report --save-job km.toml --json",
        f"apply km new.csv {SETS} --unseen suppress -o both --no-report --json",
        f"compare people.csv {SETS} {DRUGS} -k 2 -m 2 --methods aa,da,oa --json",
        f"sweep people.csv {SETS} {DRUGS} -k 2,3 -m 1 --json",
        f"mine itemsets people.csv {SETS} --min-support 8 --json",
    ),
)

LM = Job(
    files={**SHOP, "baskets.csv": as_baskets(baskets(24, 40))},
    commands=(
        "hierarchy learn baskets.csv --fan-out 3 -o learned.csv --json",
        "anonymize baskets.csv --hierarchy learned.csv --private-hierarchy --l 3 -m 2 "
        "--sensitive wine,soap -o out --json",
        *looks("baskets.csv", "brie wine"),
    ),
)

COHERENCE = Job(
    files={"baskets.csv.gz": as_baskets(baskets(11, 40))},
    commands=(
        "anonymize baskets.csv.gz --layout baskets --h 60 -k 2 --p 2 --private wine,soap -o out --json",
        *looks("baskets.csv.gz", "brie", "--layout baskets"),
        "anonymize baskets.csv.gz -k 3 -m 2 -o auto --no-report --json",
    ),
)

TOLD = "--quasi age,sex,zip --sensitive disease"
AGES = "--intervals age=20,30,40,50,60 --intervals age=20,40,60"


def looks_at_buckets(original: str, reading: str = "") -> tuple[str, ...]:
    """Return what every release in buckets can be asked, and what it refuses."""
    return (
        "audit out --json",
        "measure out --json",
        f"risk out --original {original} {reading} --json",
        "risk out --json",
        "explain out 1 --json",
        f"apply out {original} --id name --item disease -o both --json",
        "report out -o page.html --json",
    )


_ANATOMY = f"patients.csv {TOLD} --hierarchy zip=zips.csv --l 3 --method anatomy"
ANATOMY = Job(
    files={
        "patients.csv": patients(12, 32, gaps=True),
        "zips.csv": ZIPS,
    },
    commands=(
        f"anonymize {_ANATOMY} -o out --json",
        f"anonymize {_ANATOMY} --missing-cells category -o out --json",
        f"anonymize {_ANATOMY} --missing-cells category --dry-run --json",
        f"anonymize {_ANATOMY} --missing-cells category --dry-run -o out --force --save-job job.toml",
        "run job.toml --json",
        *looks_at_buckets("patients.csv", "--missing-cells category"),
        "measure out --support 10% --random-queries 50 --query-size 2 --json",
        "compare patients.csv --guarantee l --l 3 --sensitive disease --json",
        "sweep patients.csv -k 2 -m 2 --json",
        "mine itemsets patients.csv --min-support 2 --json",
        f"anonymize {_ANATOMY} --missing-cells category -o out --force",
        "-m setveil.audit out",
        "audit out",
        "measure out",
        "risk out",
    ),
    pages=("out",),
)

INJECTOR = Job(
    files={"patients.csv": patients(13, 60), "zips.csv": ZIPS},
    commands=(
        f"mine rules patients.csv {TOLD} {AGES} --hierarchy zip=zips.csv --json",
        f"mine rules patients.csv {TOLD} {AGES} --min-exp 0.6 --control none",
        f"mine rules patients.csv {TOLD} {AGES} --min-exp 0.6 --control none --all -o rules.csv --json",
        f"anonymize patients.csv {TOLD} {AGES} --l 2 --min-exp 0.6 --control none --rules-only --json",
        f"anonymize patients.csv {TOLD} {AGES} --l 2 --min-exp 0.6 --control none -o out --json",
        *looks_at_buckets("patients.csv"),
        "risk out --rules rules.csv --json",
        "measure out --support 10% --random-queries 50 --query-size 2 --json",
    ),
)

_GIVEN = f"patients.csv {TOLD} --missing-cells suppress-row"
GIVEN = Job(
    files={
        "patients.csv": patients(14, 40, gaps=True),
        "zips.csv": ZIPS,
        "facts.csv": "age,sex,zip,disease\n,M,,angina\n,F,10*,gout\n,F,10*,flu\n,F,10*,ulcer\n",
    },
    commands=(
        f"anonymize {_GIVEN} --hierarchy zip=zips.csv --l 3 --method injector --rules facts.csv "
        "--min-fact-conf 0.1 --format joined -o out --json",
        f"anonymize {_GIVEN} --hierarchy zip=zips.csv --l 3 --method injector --rules facts.csv "
        "--min-fact-conf 0.1 --suppress-infeasible --format joined -o out --json",
        *looks_at_buckets("patients.csv", "--missing-cells suppress-row"),
        f"anonymize {_GIVEN} {AGES} --fuzzy --membership minimum --max-antecedent 2 --l 2 "
        "--min-exp 0.6 -o fuzzy --no-report --json",
    ),
)


def looks_at_pair(original: str, rest: str, label: str) -> tuple[str, ...]:
    """Return what every release of two data sets can be asked, and what it refuses."""
    return (
        "audit out --json",
        "measure out --support 30% --json",
        "risk out --json",
        f"explain out {label} --top 2 --json",
        f"apply out {original} -o both --json",
        "report out -o page.html --json",
        f"mine patterns {original} {rest} --minimal --json",
    )


_SETS = f"before.csv --against after.csv --layout baskets {TREE} --growth 3"
PAIR_SETS = Job(
    files={
        **SHOP,
        "before.csv": as_baskets(baskets(15, 30, ITEMS[:5], 2)),
        "after.csv": as_baskets(baskets(16, 30, ITEMS[4::-1], 2)),
    },
    commands=(
        f"anonymize {_SETS} --dry-run --json",
        f"anonymize {_SETS} --dry-run",
        f"anonymize {_SETS} -o out --every-level --save-job job.toml --json",
        "run job.toml --force --json",
        *looks_at_pair("before.csv", "--against after.csv --layout baskets --growth 3", "milk"),
        f"compare before.csv --layout baskets {TREE} --methods hide-patterns -k 2 -m 2 --json",
        f"sweep before.csv --layout baskets {TREE} --method hide-patterns -k 2 -m 2 --json",
        f"anonymize {_SETS} --format parquet --min-support 12 --guard -o rows --no-report --json",
        "audit rows --json",
        f"anonymize {_SETS} -o out --every-level --force",
        "-m setveil.audit out",
        "audit out",
        "measure out",
        "mine patterns before.csv --against after.csv --layout baskets --growth 3 --top 3",
    ),
    pages=("out",),
)

_TABLE = "incomes.csv --class-column income --growth 3"
PAIR_TABLE = Job(
    files={"incomes.csv": incomes(17, 60), "education.csv": EDUCATION},
    commands=(
        f"anonymize {_TABLE} --hierarchy education=education.csv --search annealed --seed 3 "
        "--restarts 2 --theta-p 0.5 -o out --json",
        *looks_at_pair("incomes.csv", "--class-column income --growth 3", "9th"),
        f"anonymize {_TABLE} --search greedy --attributes education --format jsonl -o plain --json",
        f"anonymize {_TABLE} --search greedy --attributes education -o plain --no-report "
        "--publish-useless --json",
    ),
)

HIERARCHIES = Job(
    files={
        **SHOP,
        "baskets.csv": as_baskets(baskets(18, 30)),
        "codes.csv": "A01,B12\nA02\nB11,A01\n",
        "forest.csv": "ale;drinks\nmilk;food\n",
        "broken.csv": "ale;drinks\nmilk;food\nale;food\n",
    },
    commands=(
        "hierarchy build baskets.csv --fan-out 3 --json",
        "hierarchy build codes.csv --layout baskets --prefixes 1,2 --to json -o codes.json --json",
        "hierarchy build baskets.csv --flat --to parents",
        "hierarchy learn baskets.csv --fan-out 3 --json",
        "hierarchy check products.csv --data baskets.csv --json",
        "hierarchy check broken.csv --data baskets.csv --json",
        "hierarchy show products.csv --depth 2 --json",
        "hierarchy show products.csv --under food",
        "hierarchy convert products.csv --to parents --json",
        "hierarchy convert products.csv --to json",
        "hierarchy convert products.csv --to amnesia --json",
        "hierarchy convert forest.csv --add-root ALL --to amnesia -o amnesia.txt --json",
        "hierarchy show amnesia.txt --json",
        "hierarchy convert amnesia.txt",
    ),
)

DEMO = Job(files={}, commands=("demo -o out --json",))

REFUSED = Job(
    files={
        **SHOP,
        "baskets.csv": as_baskets(baskets(19, 12)),
        "lists.csv": "name,zip,codes\n" + "".join(f"n{at},1,{at}01;{at}02\n" for at in range(12)),
    },
    commands=(
        "--version",
        "methods --json",
        "methods optimal --json",
        "methods nothing --json",
        "doctor --json",
        "anonymize baskets.csv -k 3 -m 2 --method optimal -o out --json",
        f"anonymize baskets.csv {TREE} -k 30 -m 2 -o out --json",
        f"anonymize baskets.csv {TREE} -k 3 -m 2 --method partition -o no --json",
        f"anonymize baskets.csv {TREE} -k 3 -m 2 --growth 3 -o out --json",
        f"anonymize baskets.csv {TREE} -k 3 -m 2 --method aa --parts 2 -o out --json",
        f"anonymize baskets.csv {TREE} -k 12 -m 2 --method aa -o out --json",
        f"anonymize baskets.csv {TREE} -k 3 -m 2 --format table -o out --json",
        f"anonymize baskets.csv {TREE} -k 3 -m 2 --json",
        f"anonymize missing.csv {TREE} -k 3 -m 2 -o out --json",
        "anonymize lists.csv --quasi zip --sensitive codes --l 2 -o out --json",
        "anonymize lists.csv --quasi zip,codes --sensitive name --l 2 --as-is -o out --json",
        "audit baskets.csv --json",
        "mine rules baskets.csv --quasi milk --sensitive bun --json",
        "measure products.csv --json",
        "explain baskets.csv milk --json",
        "report baskets.csv --json",
        "apply baskets.csv baskets.csv -o out --json",
        "run products.csv --json",
    ),
)

JOBS: Mapping[str, Job] = {
    "sets-trim": TRIM,
    "sets-optimal": OPTIMAL,
    "sets-negative": NEGATIVE,
    "sets-local": LOCAL,
    "sets-vertical": VERTICAL,
    "sets-hghs": HGHS,
    "sets-partition": PARTITION,
    "sets-diverse": LM,
    "sets-coherent": COHERENCE,
    "buckets-anatomy": ANATOMY,
    "buckets-mined-rules": INJECTOR,
    "buckets-given-rules": GIVEN,
    "pair-sets": PAIR_SETS,
    "pair-table": PAIR_TABLE,
    "hierarchies": HIERARCHIES,
    "demo": DEMO,
    "refused": REFUSED,
}

"""Regular expressions and LIKE patterns whose search does not end, or whose automaton does not fit."""

from __future__ import annotations

from collections.abc import Iterator

from tests.hostile.attacks.pieces import LONG, SHORT, text

EMPTY_LOOPS = [
    "(?:(?:){2147483647}){2147483647}",
    "(?:(?:a?){2147483647}){2147483647}b",
    "(?:()*)*b",
    "(|a)*b",
    "(?:|b|a)*c",
    "(a?){40000}b",
    "((a?){1000}){1000}b",
    "(?:a{0,50000}){0,50000}b",
    "(?:(?:(?:){65535}){65535}){65535}",
    "(?:\\b){2147483647}x",
    "(?:^)*{1,2147483647}b",
    "(?:(?=a)){2147483647}b",
]
NESTED_LOOPS = [
    "(a|b)*c",
    "(a*)*b",
    "((a+)+)+$b",
    "(a|aa)+b",
    "(.*a){20}b",
    "a*a*a*a*a*a*a*a*a*a*b",
    "(x+x+)+y",
    "(\\w+\\s?)*!",
    "^(([a-z])+.)+[A-Z]([a-z])+$",
    "(.*)*(.*)*(.*)*b",
    "([a-z]+)*=(([a-z])*)*;",
    "(a?|b?)*?c",
    "(?:a|b|ab)*(?:a|b|ba)*c",
]
IRREGULAR = [
    "(a+)\\1+b",
    "(a*)*\\1b",
    "(.*)\\1\\1\\1b",
    "(?<n>a+)+\\k<n>b",
    "(?=(a+)+b)a",
    "(?!(a+)+b)c",
    "(?<=a{1,5000})b",
    "(?<!(a|b){1,300})c",
    "(?>a*)*b",
    "(a++)*b",
    "((?=a*)a)*b",
    "(?=.*?(.*?)(.*?)(.*?)b)c",
    "(a)?(?:\\1{2147483647}){2147483647}b",
    "\\G(?:a|\\Ga)*b",
]
LARGE = [
    "a{2147483647}",
    "((a{1000}){1000}){1000}",
    "[ab]{1000}{1000}",
    "(?:[a-z]{1,1000}){1,1000}!",
    "(" * 400 + "a" + ")" * 400 + "b",
    "(?:" * 2_500 + "a" + ")" * 2_500,
    "a" * 40_000 + "b",
    "(?iu).*(" + "|".join(f"{i:032x}" for i in range(3_000)) + ").*",
    "|".join(f"a{{{i}}}b" for i in range(1, 1_500)),
    "|".join(["a*"] * 3_000) + "b",
    "(?i)" + ".*".join("abcdefghij" * 20),
    "[" + "".join(f"\\x{{{i:x}}}-\\x{{{i + 1:x}}}" for i in range(256, 4_000, 2)) + "]*b",
    "\\p{L}*\\p{IsAlphabetic}*\\P{N}*[\\p{L}&&[^a]]*b",
    "(?:" + "a?" * 4_000 + ")" + "a" * 4_000,
    ".{1,30000}.{1,30000}b",
]
PATTERNS = EMPTY_LOOPS + NESTED_LOOPS + IRREGULAR + LARGE

SEARCHES: list[str] = [
    "{s} RLIKE {p}",
    "NOT regexp_like({s}, {p})",
    "regexp_extract({s}, {p}, 0) = 'x'",
    "size(regexp_extract_all({s}, {p}, 0)) = 1",
    "regexp_replace({s}, {p}, 'aaaaaaaaaa') = 'x'",
    "regexp_count({s}, {p}) = 1",
    "regexp_instr({s}, {p}) = 1",
    "regexp_substr({s}, {p}) = 'x'",
    "size(split({s}, {p})) = 7",
    "size(str_to_map({s}, {p}, ':')) = 7",
    "exists(array({s}, 'b'), y -> y RLIKE {p})",
    "CASE WHEN {s} RLIKE {p} THEN a = 1 ELSE a = 2 END",
    "filter(array({s}), y -> regexp_replace(y, {p}, '') = y)[0] = 'x'",
]


def regex() -> Iterator[str]:
    for pattern in PATTERNS:
        yield f"t RLIKE {text(pattern)}"
        yield f"{LONG} RLIKE {text(pattern)} OR a = 7"
    for pattern in ["(?:(?:){2147483647}){2147483647}", "(a|b)*c", "(a+)\\1+b", "(.*a){20}b", "(a?){40000}b"]:
        for search in SEARCHES[1:]:
            for subject in ("t", SHORT):
                yield search.replace("{s}", subject).replace("{p}", text(pattern))
    for search in SEARCHES:
        yield search.replace("{s}", "t").replace("{p}", "p")
    for like in ["%a%a%a%a%a%a%a%a%a%a%b", "%" * 20_000 + "b", "_%" * 5_000 + "b", "%a" * 10_000 + "b"]:
        yield f"t LIKE {text(like)}"
        yield f"{LONG} ILIKE {text(like)}"
        yield f"t LIKE ANY ({text(like)}, 'b%')"
        yield f"t COLLATE UTF8_LCASE LIKE {text(like)}"
    # Spark's parser evaluates constant patterns of LIKE ANY, operators among them.
    for pattern in [*EMPTY_LOOPS[:4], "(a|b)*c"]:
        yield f"s LIKE ANY (CAST({LONG} RLIKE {text(pattern)} AS STRING), 'x')"
        yield f"s LIKE/* x */ANY (CAST({LONG} RLIKE {text(pattern)} AS STRING), 'x')"
        yield f"s = r'\\' AND s LIKE ANY (CAST({LONG} RLIKE {text(pattern)} AS STRING), 'x')"
        yield f"s NOT LIKE ALL (CASE WHEN {LONG} RLIKE {text(pattern)} THEN 'y' ELSE 'z' END, 'x')"

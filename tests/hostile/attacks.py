"""Rule texts that mean harm, by what they try: each family is a few ideas times the places where they can be put.

The columns are those of `rule_child.ROW`: `s` is short, `t` has 60,000 characters, `w` many words, `p` a bad pattern,
`xs`, `ys` and `aa` are arrays, `j` JSON, `x` XML, and so on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

LONG = "'" + "a" * 60_000 + "'"
SHORT = "'" + "a" * 40 + "'"


def text(value: str) -> str:
    """As a constant of SQL."""
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


def nested(pattern: str, times: int, inner: str) -> str:
    """`f(f(f(inner)))`; the pattern has an x in braces where the value goes, once or more often."""
    for _ in range(times):
        inner = pattern.replace("{x}", inner)
    return inner


# --- regular expressions

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


# --- values that grow

GROWING = {
    "hex": "hex({x})",
    "base32": "to_base32(CAST({x} AS BINARY))",
    "base64": "base64(CAST(concat({x}, {x}) AS BINARY))",
    "concat": "concat({x}, {x})",
    "pipes": "({x} || {x})",
    "concat_ws": "concat_ws('a', {x}, {x})",
    "array_join": "array_join(array({x}, 'a', {x}), 'a')",
    "replace": "replace({x}, 'a', 'aaaaaaaaaa')",
    "regexp_replace": "regexp_replace({x}, '.', 'aaaaaaaaaa')",
    "translate": "translate(concat({x}, {x}), 'b', 'a')",
    "overlay": "overlay({x} PLACING {x} FROM 1 FOR 0)",
    "url_encode": "url_encode(concat('%', {x}))",
    "quote": "quote(quote(concat('\\\\'', {x})))",
    "to_json": "to_json(array({x}, {x}))",
    "to_json struct": "to_json(named_struct('aaaaaaaa', {x}))",
    "to_csv": "to_csv(struct({x}, {x}))",
    "to_xml": "to_xml(named_struct('a', {x}))",
    "encode": "decode(encode(concat({x}, {x}), 'UTF-32'), 'UTF-16')",
    "bin": "concat(bin(length({x})), {x}, {x})",
    "sentences": "to_json(sentences(concat({x}, '. ', {x})))",
    "mask": "mask(concat({x}, {x}))",
    "elt": "elt(1, concat({x}, {x}), 'b')",
    "if": "if(length({x}) > 0, concat({x}, 'a'), {x})",
    "variant": "to_json(parse_json(to_json(array({x}, {x}))))",
    "str_to_map": "to_json(str_to_map(concat({x}, ',b', {x})))",
    "split": "concat_ws('ab', split({x}, ''))",
    "format": "format_string('%s%s', {x}, {x})",
    "repeat": "repeat({x}, 100)",
    "lpad": "lpad({x}, 2 * length({x}), 'a')",
    "initcap": "initcap(ucase(lcase(concat({x}, {x}))))",
    "reverse": "reverse(concat({x}, reverse({x})))",
    "substring": "substring(concat({x}, {x}), 1)",
    "ucase": "upper(replace({x}, 'A', 'ßß'))",
    "nested aggregate": "aggregate(array(1, 2, 3), {x}, (acc, y) -> concat(acc, acc))",
}
# Where a value is asked for: some are evaluated by the analyzer itself, before anything could bound them.
PLACES = [
    "{x} = 'b'",
    "s = {x}",
    "s LIKE {x}",
    "s IN ('a', {x})",
    "named_struct({x}, 1) IS NULL",
    "from_json(s, {x}) IS NULL",
    "to_json(named_struct('a', 1), map('dateFormat', {x})) = 'x'",
    "to_number(s, {x}) = 1",
    "schema_of_json({x}) = 'x'",
    "extract({x} FROM ts) = 1",
    "date_part({x}, ts) = 1",
    "s COLLATE UTF8_LCASE = {x}",
    "collate(s, {x}) = 'x'",
    "variant_get(parse_json(j), {x}, 'string') = 'x'",
    "get_json_object(j, {x}) = 'x'",
    "date_format(ts, {x}) = 'x'",
    "mask(s, {x}) = 'x'",
    "trunc(d, {x}) = d",
    "from_csv(s, 'a INT', map('sep', {x})) IS NULL",
    "m[{x}] = 1",
    "named_struct('a', 1)[{x}] = 1",
    "xpath_string(x, {x}) = 'x'",
    "from_utc_timestamp(ts, {x}) = ts",
    "CAST({x} AS INT) = 1",
    "element_at(m, {x}) = 1",
    "a BETWEEN 0 AND length({x})",
]

SINGLE_GROWTH = [
    "length(repeat('x', 2147483647)) > 1",
    "length(repeat(t, 35000)) > 1",
    "length(space(2147483647)) > 1",
    "length(lpad(s, 2147483647, 'x')) > 1",
    "length(rpad('', 2000000000, 'xyz')) > 1",
    "length(lpad(CAST(s AS BINARY), 2000000000)) > 1",
    "format_string('%2147483647d', a) = 'x'",
    "format_string('%1$2000000000s', s) = 'x'",
    "printf('%.2000000000f', n) = 'x'",
    "format_number(n, 2147483647) = 'x'",
    "format_number(n, 2000000) = 'x'",
    "size(array_repeat(s, 2147483632)) > 1",
    "size(array_repeat(t, 100000000)) > 1",
    "size(sequence(1, 2147483647)) > 1",
    "size(sequence(1L, 9223372036854775807L)) > 1",
    "size(sequence(DATE'0001-01-01', DATE'9999-12-31', INTERVAL 1 DAY)) > 1",
    "size(sequence(TIMESTAMP'0001-01-01', TIMESTAMP'9999-12-31', INTERVAL 1 SECOND)) > 1",
    "array_insert(xs, 2000000000, 1) IS NULL",
    "array_insert(xs, -2000000000, 1) IS NULL",
    "size(flatten(array_repeat(array_repeat(1, 30000), 30000))) > 1",
    "size(flatten(transform(xs, y -> xs))) > 1",
    "size(flatten(flatten(transform(xs, y -> transform(xs, z -> xs))))) > 1",
    "length(array_join(transform(xs, y -> t), '')) > 1",
    "length(aggregate(xs, s, (acc, y) -> concat(acc, acc))) > 1",
    "length(reduce(xs, 'a', (acc, y) -> concat(acc, acc, acc))) > 1",
    "size(aggregate(xs, array(1), (acc, y) -> concat(acc, acc))) > 1",
    "size(aggregate(xs, map('a', 1), (acc, y) -> map_concat(acc, map(CAST(y AS STRING), 1)))) > 1",
    "to_json(aggregate(xs, '1', (acc, y) -> to_json(array(acc, acc)))) = 'x'",
    "size(zip_with(xs, xs, (y, z) -> transform(xs, q -> xs))) > 1",
    "size(map_zip_with(m, m, (k, y, z) -> transform(xs, q -> t))) > 1",
    "size(transform_values(m, (k, y) -> transform(xs, q -> transform(xs, r -> t)))) > 1",
    "size(transform(xs, y -> transform(xs, z -> transform(xs, q -> transform(xs, r -> 1))))) > 1",
    "length(replace(t, 'a', t)) > 1",
    "length(replace(t, '', t)) > 1",
    "length(regexp_replace(t, '', t)) > 1",
    "length(regexp_replace(t, 'a', t)) > 1",
    "length(translate(t, 'a', t)) > 1",
    "length(concat_ws(t, split(t, ''))) > 1",
    "length(array_join(split(t, ''), t)) > 1",
    "size(split(t, '')) > 1",
    "length(to_json(transform(xs, y -> named_struct('a', t, 'b', t)))) > 1",
    "length(to_xml(named_struct('a', transform(xs, y -> t)))) > 1",
    "length(to_csv(struct(t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t))) > 1",
    "size(from_json(concat('[', repeat('[1],', 20000), '[1]]'), 'array<array<int>>')) > 1",
    "round(dec, 2000000000) = 1",
    "round(n, 2147483647) = 1",
    "round(a, -2147483648) = 1",
    "bround(n, 2000000000) = 1",
    "bround(a, 100000000) = 1",
    "ceil(dec, 2000000000) = 1",
    "floor(3.14, -2000000000) = 1",
    "CAST('1E-500000000' AS DECIMAL(38,0)) = 0",
    "CAST('1E500000000' AS DECIMAL(38,0)) = 0",
    "CAST('1E-2147483647' AS DECIMAL(38,18)) = dec",
    "CAST('1.E-500000000' AS DECIMAL(38,0)) = 0",
    "1.E900000000BD > dec",
    "array_repeat(NULL, 2147483632) IS NULL",
    "rpad(b, 2000000000) IS NULL",
    "CAST(tiny AS DECIMAL(38,0)) = 0",
    "CAST(tiny AS INT) = 0",
    "CAST(huge AS BIGINT) = 0",
    "dec = tiny",
    "dec > huge",
    "a = tiny",
    "a + tiny > 1",
    "1E900000000BD > dec",
    "1E-900000000BD > dec",
    "dec < 1E2147483647BD",
    "to_number(huge, '9999') = 1",
    "try_to_number(digits, '" + "9" * 38 + "') = 1",
    "CAST(digits AS DECIMAL(38,0)) = 1",
    "CAST(digits AS DOUBLE) > 1",
    "a = CAST(digits AS INT)",
    "from_json(concat('{\"a\":', digits, '}'), 'a DECIMAL(38,0)').a = 1",
    "from_json('{\"a\":1E500000000}', 'a DECIMAL(38,0)').a = 1",
    "from_json('{\"a\":1E-500000000}', 'a INT').a = 1",
    "from_csv('1E500000000', 'a DECIMAL(38,0)').a = 1",
    "from_xml('<r><a>1E500000000</a></r>', 'a DECIMAL(38,0)').a = 1",
    "parse_json('1E500000000') IS NULL",
    "schema_of_json('[1E500000000]') = 'x'",
    "get_json_object('{\"a\":1E500000000}', '$.a') = '1'",
    "conv(digits, 10, 36) = 'x'",
    "unhex(hex(unhex(hex(t)))) IS NULL",
    "factorial(2147483647) = 1",
    "shiftleft(1, 2147483647) = 1",
    "power(dec, 2147483647) > 1",
    "hex(power(10, 308)) = 'x'",
    "make_interval(2147483647, 2147483647, 2147483647) IS NULL",
    "array_position(array_repeat(1, 100000000), 2) = 0",
    "size(map_from_arrays(sequence(1, 5000000), sequence(1, 5000000))) > 1",
    "size(array_union(sequence(1, 30000000), sequence(1, 30000000))) > 1",
    "size(arrays_zip(sequence(1, 30000000), sequence(1, 30000000))) > 1",
    "vector_norm(array_repeat(1f, 500000000)) > 1",
    "length(to_char(dec, '" + "9" * 900_000 + "')) > 1",
    "length(date_format(ts, '" + "y" * 100_000 + "')) > 1",
    "size(slice(array_repeat(1, 2000000000), 1, 1)) = 1",
    "bitmap_count(CAST(repeat('x', 2000000000) AS BINARY)) = 1",
    "octet_length(aes_decrypt(CAST(repeat('x', 2000000000) AS BINARY), 'aaaaaaaaaaaaaaaa')) = 1",
    "size(variant_get(parse_json(concat('[', repeat('1,', 100000000), '1]')), '$', 'array<int>')) = 1",
    "length(CAST(to_variant_object(named_struct('a', transform(xs, y -> t))) AS STRING)) > 1",
    "size(sentences(repeat('a. ', 50000000))) = 1",
    "crc32(repeat('x', 2147483647)) = 1",
    "sha2(repeat('x', 2147483647), 256) = 'x'",
    "hash(repeat('x', 2147483647)) = 1",
    "luhn_check(repeat('1', 2147483647))",
    "ascii(repeat('x', 2147483647)) = 120",
    "instr(repeat('x', 1000000000), repeat('x', 999999999)) = 1",
]


def growth() -> Iterator[str]:
    for pattern in GROWING.values():
        times = 55 // (1 + pattern.count("(", 0, pattern.find("{x}")))
        for inner in ("s", "'aaaa'"):
            if pattern.count("{x}") == 1:
                yield f"length({nested(pattern, times, inner)}) = 7"
            else:  # the text doubles as well: a few levels, then lambdas
                yield f"length({nested(pattern, 8, inner)}) = 7"
                step = pattern.replace("{x}", "acc")
                yield f"length(aggregate(xs, {inner}, (acc, q) -> {step})) = 7"
    for place in PLACES:
        yield place.replace("{x}", nested("hex({x})", 40, "'a'"))
        yield place.replace("{x}", "repeat('a', 2000000000)")
    yield from SINGLE_GROWTH


# --- work

COLLATIONS = ["UTF8_LCASE", "UNICODE", "UNICODE_CI", "de_AI", "UNICODE_CI_AI", "UTF8_BINARY_RTRIM"]
COLLATED = [
    "contains({s}, {p})",
    "startswith({s}, {p})",
    "endswith({s}, {p})",
    "replace({s}, {p}, 'b') = 'x'",
    "instr({s}, {p}) = 1",
    "locate({p}, {s}) = 1",
    "substring_index({s}, {p}, 5) = 'x'",
    "split_part({s}, {p}, 5) = 'x'",
    "translate({s}, {p}, 'x') = 'x'",
    "trim(BOTH {p} FROM {s}) = 'x'",
    "find_in_set({p}, {s}) = 1",
    "{s} LIKE concat('%', {p}, '%')",
    "{s} = {p}",
    "array_contains(array({s}), {p})",
    "levenshtein({s}, {p}) = 1",
    "{s} < {p}",
    "hash({s}) = hash({p})",
]
_PAIRS = "transform(sequence(1, 60000), y -> array(y))"
_MINUS = "transform(sequence(1, 60000), y -> array(-y))"
_KEYED = f"map_from_arrays({_PAIRS}, sequence(1, 60000))"
HALF = "'" + "a" * 30_000 + "b'"

LONG_WORK = [
    "levenshtein(t, w) = 1",
    "levenshtein(t, w, 2147483647) = 1",
    f"levenshtein({LONG}, t) = 1",
    f"levenshtein({LONG}, {HALF}) = 1",
    "jaro_winkler_similarity(t, t) > 0.5",
    f"jaro_winkler_similarity({LONG}, {HALF}) > 0.5",
    "soundex(t) = 'x'",
    "xpath_int(x, 'count(//*//*//*//*//*)') = 1",
    "xpath_int('<a><b><c/><c/></b></a>', 'count(//*[//*[//*[//*]]])') = 1",
    "xpath_string(x, '//*[count(//*//*) > 1]//*[count(//*//*//*) > 1]') = 'x'",
    "size(xpath(x, '//*//*//*//text()')) = 1",
    "xpath_boolean(deepxml, '//a//a//a//a')",
    "size(array_distinct(transform(sequence(1, 60000), y -> array(y)))) = 1",
    f"size(array_except({_PAIRS}, {_MINUS})) = 1",
    f"size(array_intersect({_PAIRS}, {_MINUS})) = 1",
    f"size(array_union({_PAIRS}, {_MINUS})) = 1",
    f"arrays_overlap({_PAIRS}, {_MINUS})",
    "size(array_distinct(transform(xs, y -> array(y)))) = 1",
    "array_except(aa, transform(aa, y -> reverse(y))) IS NULL",
    f"size(map_zip_with({_KEYED}, transform_keys({_KEYED}, (k, y) -> array(-y)), (k, y, z) -> y)) = 1",
    "size(map_from_entries(transform(sequence(1, 300000), y -> struct(array(y), y)))) = 1",
    f"size(map_concat({_KEYED}, map(array(-1), 1))) = 1",
    "size(array_sort(transform(sequence(1, 2000000), y -> y % 1000), (l, r) -> r - l)) = 1",
    "array_sort(xs, (l, r) -> aggregate(xs, 0, (acc, y) -> acc + y))[0] = 1",
    "array_sort(xs, (l, r) -> 1)[0] = 1",
    "exists(xs, q -> exists(xs, r -> exists(xs, u -> exists(xs, v -> q + r + u + v < 0))))",
    "forall(sequence(1, 100000), q -> forall(sequence(1, 100000), r -> q + r > 0))",
    "size(filter(sequence(1, 100000), q -> exists(xs, r -> exists(xs, u -> q + r + u < 0)))) = 1",
    "aggregate(sequence(1, 100000000), 0L, (acc, q) -> acc + q) = 1",
    "transform(sequence(1, 100000), q -> levenshtein(t, t))[0] = 1",
    "exists(sequence(1, 1000000), q -> t LIKE '%b%')",
    "size(from_json(j, 'array<" * 1 + "int>')) = 1",
    f"from_json(s, '{'array<' * 3_000}int{'>' * 3_000}') IS NULL",
    f"from_json(s, '{'struct<a:' * 3_000}int{'>' * 3_000}') IS NULL",
    f"from_json(s, '{'map<string,' * 2_000}int{'>' * 2_000}') IS NULL",
    f"CAST(s AS {'array<' * 60}int{'>' * 60}) IS NULL",
    f"from_csv(s, '{','.join(f'c{i} INT' for i in range(20_000))}') IS NULL",
    f"from_csv(s, '{','.join(f'c{i} INT' for i in range(20_000))}').c7 = 1",
    f"from_json(s, '{','.join(f'c{i} INT' for i in range(20_000))}').c7 = 1",
    f"from_xml(x, '{','.join(f'c{i} INT' for i in range(20_000))}').c7 = 1",
    f"from_json(j, '{','.join(f'c{i} STRUCT<a: INT>' for i in range(5_000))}').c7.a = 1",
    "schema_of_json(" + text("[" * 900 + "]" * 900) + ") = 'x'",
    "schema_of_json(" + text("{" + ",".join(f'"k{i}":{i}' for i in range(20_000)) + "}") + ") = 'x'",
    "schema_of_xml(" + text("<a>" * 10_000 + "</a>" * 10_000) + ") = 'x'",
    "schema_of_csv(" + text(",".join(["1"] * 20_000)) + ") = 'x'",
    "get_json_object(j, '$" + "[*]" * 2_000 + "') = 'x'",
    "get_json_object(j, '$" + "..*" * 200 + "') = 'x'",
    "get_json_object(j, '$" + ".a" * 50_000 + "') = 'x'",
    "json_array_length(j) = 1",
    "parse_json(deepjson) IS NULL",
    "from_json(deepjson, 'a STRING').a = 'x'",
    "from_xml(deepxml, 'a STRING').a = 'x'",
    "schema_of_variant(parse_json(j)) = 'x'",
    "to_json(parse_json(j)) = 'x'",
    "variant_get(parse_json(j), '$" + "[0]" * 20_000 + "', 'int') = 1",
    "find_in_set('b', t) = 1",
    "find_in_set('b', repeat(',', 100000000)) = 1",
    "substring_index(t, 'a', 30000) = 'x'",
    "substring_index(t, 'a', -30000) = 'x'",
    "split_part(t, 'a', 30000) = 'x'",
    "locate('aaaaaaaaaaaaaaaaaaaaaaaaaaaaab', t) = 1",
    f"instr(t, {HALF}) = 1",
    f"contains(t, {HALF})",
    "sentences(w)[0][0] = 'x'",
    "translate(w, w, w) = 'x'",
    "array_position(ys, t) = 1",
    "array_max(transform(ys, y -> levenshtein(y, t))) = 1",
    "size(str_to_map(w, ' ', '1')) = 1",
    "size(split(w, ' ')) = 1",
    "url_decode(repeat('%41', 20000)) = 'x'",
    "parse_url(concat('http://a/?', repeat('k=v&', 20000)), 'QUERY', 'z') = 'x'",
    "luhn_check(digits)",
    "width_bucket(n, -1e308, 1e308, 9223372036854775807) = 1",
    "bit_count(a) = 1 AND pmod(a, 1) = 0",
    "make_valid_utf8(repeat(x'ff', 50000)) = 'x'",
    "conv(repeat('z', 60000), 36, 2) = 'x'",
    "elt(2147483647, s, t) = 'x'",
    "to_binary(t, 'base64') IS NULL",
    "sha2(t, 512) = sha2(w, 512) AND md5(t) = 'x' AND xxhash64(t, w, xs, ys) = 1",
    "hash(aa, xs, ys, m, t) = 1",
    "reverse(t) = t AND initcap(w) = w",
    "quote(t) = 't'",
    "greatest(" + ", ".join(["t", "w"] * 400) + ") = 'x'",
    "coalesce(" + ", ".join(["nullif(t, t)"] * 300) + ") = 'x'",
]


def work() -> Iterator[str]:
    for collation in COLLATIONS:
        for call in COLLATED[: 17 if collation == "UTF8_LCASE" else 9]:
            yield call.replace("{s}", f"t COLLATE {collation}").replace("{p}", f"{HALF} COLLATE {collation}")
    for call in COLLATED:
        yield call.replace("{s}", f"{LONG} COLLATE UNICODE_CI").replace("{p}", f"{HALF} COLLATE UNICODE_CI")
    yield from LONG_WORK


# --- depth


def depth() -> Iterator[str]:
    yield nested("CASE WHEN {x} > 0 THEN a ELSE 1 END", 30, "a") + " > 0"
    yield nested("if({x} > 0, a, 1)", 55, "a") + " > 0"
    yield nested("coalesce({x}, 1)", 63, "a") + " > 0"
    yield nested("array({x})", 60, "a") + " IS NULL"
    yield nested("struct({x})", 60, "a") + " IS NULL"
    yield nested("named_struct('a', {x})", 60, "a") + " IS NULL"
    yield nested("map('a', {x})", 60, "a") + " IS NULL"
    yield nested("to_json(named_struct('a', {x}))", 30, "a") + " = 'x'"
    yield nested("array({x}, {x})", 9, "a") + " IS NULL"
    yield nested("({x} + {x})", 9, "a") + " = 1"
    yield nested("abs({x}, {x})", 8, "a") + " = 1"
    yield nested("transform(array(1), q -> {x})", 30, "q") + " IS NULL"
    yield nested("exists(array(1), q -> {x})", 60, "q > 0")
    yield nested("aggregate(array(1), 0, (acc, q) -> {x})", 30, "acc + q") + " = 1"
    yield nested("filter(xs, q -> size({x}) > 0)", 30, "xs") + " IS NULL"
    yield nested("CAST({x} AS STRING)", 60, "a") + " = 'x'"
    yield "a" + "::string::int" * 300 + " = 1"
    yield "a" + " + a" * 990 + " > 1"
    yield "a" + " - 1" * 990 + " > 1"
    yield "s" + " || s" * 990 + " = 'x'"
    yield "a" + " * a" * 700 + " > 1"
    yield "dec" + " * dec" * 400 + " > 1"
    yield "a = 1" + " OR a = 2" * 50_000
    yield "(a = 1" + " AND s <> 'x'" * 20_000 + ")"
    yield "NOT (" * 60 + "a = 1" + ")" * 60
    yield "- " * 60 + "a = 1"
    yield "a IN (" + ", ".join(f"{i}" for i in range(100_000)) + ")"
    yield "a IN (" + ", ".join(f"a + {i}" for i in range(300)) + ")"
    yield "a IN (" + ", ".join(f"CAST('{i}' AS INT)" for i in range(500)) + ")"
    yield "concat(" + ", ".join(["s"] * 900) + ") = 'x'"
    yield "array(" + ", ".join(["t"] * 900) + ")[0] = 'x'"
    yield "struct(" + ", ".join(["t"] * 900) + ") IS NULL"
    yield "s LIKE ANY (" + ", ".join(f"'%{i}%'" for i in range(5_000)) + ")"
    yield "s NOT LIKE ALL (" + ", ".join(f"'%{i}_'" for i in range(5_000)) + ")"
    yield "CASE " + " ".join(f"WHEN a = {i} THEN {i}" for i in range(300)) + " END = 1"
    yield "a" + "[0]" * 60 + " = 1"
    yield "j:" + ".".join(["a"] * 500) + " = 1"
    yield "parse_json(j):" + "a" + "[0]" * 500 + "::int = 1"
    yield "x.a" + ".a" * 60 + " = 1"
    yield f"CAST(NULL AS {'struct<a:' * 60}int{'>' * 60}) IS NULL"
    yield f"from_json(s, '{'(' * 5_000}') IS NULL"
    yield f"from_json(s, 'a {'decimal(' * 5_000}') IS NULL"
    yield f"from_json(s, {text('{' * 50_000)}) IS NULL"
    array = '{"type":"array","containsNull":true,"elementType":' * 900
    yield "from_json(s, " + text(array + '"int"' + "}" * 900) + ") IS NULL"
    yield "named_struct(" + ", ".join(f"'a{i}', {i}" for i in range(480)) + ").a7 = 1"
    yield "map(" + ", ".join(f"'a{i}', {i}" for i in range(480)) + ")['a7'] = 1"
    yield "interval " + " ".join(["1 day"] * 900) + " = INTERVAL 1 DAY"
    yield "INTERVAL '" + "1 " * 100_000 + "' DAY = INTERVAL 1 DAY"
    yield "a = " + "9" * 900_000
    yield "a = 0." + "0" * 900_000 + "1"
    yield "n = 1e" + "9" * 100_000
    yield "n = CAST('" + "9" * 900_000 + "' AS DOUBLE)"
    yield "s = '" + "\\\\u0041" * 100_000 + "'"
    yield "`" + "x" * 900_000 + "` = 1"
    yield ".".join(["s"] * 900) + " = 1"


# --- telling what is not theirs to know

SECRET = "canary-of-the-environment"  # of a variable of the environment, a setting and a file


def leak() -> Iterator[str]:
    for told in [
        "'${env:HOSTILE_SECRET}'",
        "'${system:user.home}'",
        "'${spark.hostile.secret}'",
        "'${hiveconf:spark.hostile.secret}'",
        "current_user()",
        "session_user()",
        "user()",
        "current_catalog()",
        "current_database()",
        "current_schema()",
        "version()",
        "current_path()",
        "input_file_name()",
        "input_file_block_start()",
        "reflect('java.lang.System', 'getenv', 'HOSTILE_SECRET')",
        "java_method('java.lang.System', 'getProperty', 'java.class.path')",
        "try_reflect('java.lang.System', 'getenv', 'HOSTILE_SECRET')",
        "IDENTIFIER('reflect')('java.lang.System', 'getenv', 'HOSTILE_SECRET')",
        "IDENTIFIER(concat('ref', 'lect'))('java.lang.System', 'getenv', 'HOSTILE_SECRET')",
        "system.builtin.reflect('java.lang.System', 'getenv', 'HOSTILE_SECRET')",
        "builtin.java_method('java.lang.System', 'getenv', 'HOSTILE_SECRET')",
        "uuid()",
        "spark_partition_id()",
        "(SELECT max(value) FROM text.`{canary}`)",
        "(SELECT count(*) FROM csv.`{canary}`)",
        "(SELECT first(value) FROM VALUES (reflect('java.lang.System', 'getenv', 'HOSTILE_SECRET')) AS t(value))",
        "(FROM range(10) SELECT max(id))",
        "a_variable",
        "session.a_variable",
        "system.session.a_variable",
    ]:
        yield f"{told} = 'x'"
        yield f"length(concat({told}, '')) > 0"
        yield f"CAST({told} AS INT) = 1"
    yield "raise_error(s)"
    yield "raise_error(concat('${env:HOSTILE_SECRET}', s)) IS NULL"
    yield "assert_true(a > 5, t) IS NULL"
    yield "CAST(s AS INT) > 1"
    yield "CAST(t AS DATE) = d"
    yield "to_number(t, '999') = 1"
    yield "from_json(t, 'a INT', map('mode', 'FAILFAST')).a = 1"
    yield "validate_utf8(b) = 'x'"
    yield "element_at(xs, 100000) = 1"
    yield "a / 0 > 1"
    yield "a IN (SELECT id FROM range(10))"
    yield "EXISTS (SELECT 1 FROM text.`{canary}`)"
    yield "size(match_subscriptions('hostile', a).ids) > 0"
    yield "match_subscriptions('hostile@1', *).ids[0] = 'x'"


# --- dates, times, zones

ABSURD_TIMES = [
    "from_utc_timestamp(ts, t) = ts",
    "to_utc_timestamp(ts, concat('+', digits)) = ts",
    "convert_timezone('UTC', t, CAST(ts AS TIMESTAMP_NTZ)) IS NULL",
    "convert_timezone(w, 'Europe/Berlin', CAST(ts AS TIMESTAMP_NTZ)) IS NULL",
    "date_format(ts, t) = 'x'",
    "date_format(ts, '" + "[" * 5_000 + "yyyy" + "]" * 5_000 + "') = 'x'",
    "date_format(ts, '" + "''" * 20_000 + "') = 'x'",
    "date_format(ts, '" + "MMMM" * 20_000 + "') = 'x'",
    "to_timestamp(t, '" + "[" * 3_000 + "y" + "]" * 3_000 + "') = ts",
    "to_timestamp(digits, '" + "yyyy" * 5_000 + "') = ts",
    "to_timestamp(digits, 'yyyyMMddHHmmssSSSSSSSSS') = ts",
    "to_date(w, '" + "[yyyy][MM]" * 2_000 + "') = d",
    "try_to_timestamp(t, t) IS NULL",
    "unix_timestamp(t, t) = 1",
    "from_unixtime(9223372036854775807, 'yyyy') = 'x'",
    "from_unixtime(a, t) = 'x'",
    "add_months(d, 2147483647) = d",
    "date_add(d, 2147483647) = d",
    "date_sub(d, -2147483648) = d",
    "timestampadd(YEAR, 2147483647, ts) = ts",
    "timestampadd(MICROSECOND, 9223372036854775807, ts) = ts",
    "ts + INTERVAL '999999999' DAY > ts",
    "ts - INTERVAL '178956970-7' YEAR TO MONTH > ts",
    "d + make_interval(2147483647, 2147483647, 2147483647, 2147483647, 2147483647, 2147483647, 9e17) > d",
    "make_timestamp(2147483647, 1, 1, 0, 0, 0) = ts",
    "make_date(2147483647, 12, 31) = d",
    "make_timestamp(2024, 1, 1, 0, 0, 0, t) = ts",
    "timestamp_seconds(9223372036854775807) = ts",
    "timestamp_micros(-9223372036854775808) = ts",
    "timestamp_seconds(1E300) = ts",
    "date_from_unix_date(2147483647) = d",
    "months_between(DATE'9999-12-31', DATE'0001-01-01') > 1",
    "trunc(d, t) = d",
    "date_trunc(w, ts) = ts",
    "next_day(d, t) = d",
    "date_part(t, ts) = 1",
    "CAST(t AS TIMESTAMP) = ts",
    "CAST(digits AS TIMESTAMP) = ts",
    "CAST(concat('+', digits, '-01-01') AS DATE) = d",
    "CAST(digits AS INTERVAL DAY TO SECOND) = INTERVAL 1 DAY",
    "CAST(t AS INTERVAL) IS NULL",
    "CAST(repeat('1 day ', 50000) AS INTERVAL) IS NULL",
    "ts = TIMESTAMP'294247-01-10 04:00:54.775807Z'",
    "ts = '" + "9" * 100_000 + "'",
    "ts > '2024-01-01 00:00:00 " + "Europe/" * 10_000 + "'",
    "window(ts, '1 microsecond').start = ts",
    "session_window(ts, '1 day').start = ts",
    "time_bucket(INTERVAL 1 DAY, ts) = ts",
    "extract(EPOCH FROM ts) = 1",
    "to_time(t) = TIME'00:00:00'",
    "make_time(2147483647, 0, 0) = TIME'00:00:00'",
    "current_timezone() = t",
    "hour(to_timestamp(t)) = 1 AND weekofyear(CAST(w AS DATE)) = 1",
    "to_char(ts, t) = 'x'",
    "date_diff(DATE'9999-12-31', DATE'-9999-01-01') = 1",
]


def times() -> Iterator[str]:
    yield from ABSURD_TIMES


FAMILIES: dict[str, Callable[[], Iterator[str]]] = {
    "regex": regex,
    "growth": growth,
    "work": work,
    "depth": depth,
    "leak": leak,
    "times": times,
}

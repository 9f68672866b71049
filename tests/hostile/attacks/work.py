"""Expensive work for a single row: comparisons under collations, quadratic functions, long loops."""

from __future__ import annotations

from collections.abc import Iterator

from tests.hostile.attacks.pieces import LONG, text

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

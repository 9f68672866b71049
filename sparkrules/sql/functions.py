"""The functions a rule may call: Spark's deterministic scalar built-ins (registry of Spark 4.3).

Any other name is rejected. A new Spark function is unavailable until someone has reviewed it, or until a deployment
adds it with `Policy(extra_functions=...)`. Excluded functions:

| excluded | because |
|---|---|
| aggregates, windows, generators, `window`, `session_window` | a rule sees one row |
| `rand`, `randn`, `random`, `randstr`, `uniform`, `uuid`, `shuffle` | not deterministic |
| `monotonically_increasing_id`, `spark_partition_id` | depend on how the table is partitioned |
| `aes_encrypt` | not deterministic: it picks a random initialization vector |
| `reflect`, `java_method`, `try_reflect` | call any static Java method |
| `raise_error`, `assert_true` | exist only to fail the query |
| `input_file_name`, `input_file_block_start`, `input_file_block_length` | depend on the scan, and reveal paths |
| `current_user`, `user`, `session_user`, `current_catalog`, `current_database` | reveal the environment |
| `current_schema`, `current_path`, `version` | reveal the environment |
| `sequence`, `array_repeat`, `array_insert`, `repeat`, `space`, `lpad`, `rpad` | a short text can ask for gigabytes |
| `format_string`, `printf`, `format_number` | the same, through the width in the format |
| sketches, Avro, Protobuf | binary formats not used in a WHERE; some read files on the driver |
| `xpath` and related | load the document type that a document names; `//*//*//*` may never finish |
| `identifier`, `and`, `or`, `not`, `in`, `cast` | syntax, not functions; `identifier` could name any of the above |
"""

from __future__ import annotations

_GROUPS: dict[str, str] = {
    "arrays": """
        array array_append array_compact array_contains array_distinct array_except array_intersect array_join
        array_max array_min array_position array_prepend array_remove array_size array_union arrays_overlap arrays_zip
        flatten get slice sort_array
    """,
    "bits": """
        bit_count bit_get getbit shiftleft shiftright shiftrightunsigned
    """,
    "collections": """
        cardinality concat element_at reverse size try_element_at
    """,
    "conditions": """
        between coalesce if ifnull nanvl nullif nullifzero nvl nvl2 zeroifnull
    """,
    "conversions": """
        bigint binary boolean date decimal double float int smallint string time timestamp tinyint
    """,
    "CSV": """
        from_csv schema_of_csv to_csv
    """,
    "dates and times": """
        add_months convert_timezone curdate current_date current_time current_timestamp current_timezone date_add
        date_diff date_format date_from_unix_date date_part date_sub date_trunc dateadd datediff datepart day dayname
        dayofmonth dayofweek dayofyear extract from_unixtime from_utc_timestamp hour last_day localtime localtimestamp
        make_date make_dt_interval make_interval make_time make_timestamp make_timestamp_ltz make_timestamp_ntz
        make_ym_interval minute month monthname months_between next_day now quarter second time_bucket time_diff
        time_from_micros time_from_millis time_from_seconds time_to_micros time_to_millis time_to_seconds time_trunc
        timediff timestamp_micros timestamp_millis timestamp_nanos timestamp_seconds timestampadd timestampdiff
        to_date to_time to_timestamp to_timestamp_ltz to_timestamp_ntz to_unix_timestamp to_utc_timestamp trunc
        try_make_interval try_make_timestamp try_make_timestamp_ltz try_make_timestamp_ntz try_to_date try_to_time
        try_to_timestamp unix_date unix_micros unix_millis unix_nanos unix_seconds unix_timestamp weekday weekofyear
        year
    """,
    "geospatial": """
        st_asbinary st_geogfromwkb st_geomfromwkb st_setsrid st_srid
    """,
    "hashes": """
        crc32 hash md5 sha sha1 sha2 xxhash64
    """,
    "higher-order functions": """
        aggregate array_sort exists filter forall map_filter map_zip_with reduce transform transform_keys
        transform_values zip_with
    """,
    "JSON": """
        from_json get_json_object json_array_length json_object_keys schema_of_json to_json
    """,
    "maps": """
        map map_concat map_contains_key map_entries map_from_arrays map_from_entries map_keys map_values str_to_map
    """,
    "miscellaneous": """
        aes_decrypt bitmap_bit_position bitmap_bucket_number bitmap_count hmac try_aes_decrypt typeof
    """,
    "numbers": """
        abs acos acosh asin asinh atan atan2 atanh bin bround cbrt ceil ceiling conv cos cosh cot csc degrees div e
        exp expm1 factorial floor greatest hex hypot least ln log log10 log1p log2 mod negative pi pmod positive pow
        power radians rint round sec sign signum sin sinh sqrt tan tanh try_add try_divide try_mod try_multiply
        try_subtract unhex width_bucket
    """,
    "predicates": """
        equal_null ilike isnan isnotnull isnull like regexp regexp_like rlike
    """,
    "strings": """
        ascii base64 bit_length btrim char char_length character_length chr collate collation concat_ws contains
        decode elt encode endswith find_in_set from_base32 initcap instr is_valid_utf8 jaro_winkler_similarity lcase
        left len length levenshtein locate lower ltrim luhn_check make_valid_utf8 mask octet_length overlay position
        quote regexp_count regexp_extract regexp_extract_all regexp_instr regexp_replace regexp_substr replace right
        rtrim sentences soundex split split_part startswith substr substring substring_index to_base32 to_binary
        to_char to_number to_varchar translate trim try_to_binary try_to_number try_validate_utf8 ucase unbase64 upper
        validate_utf8
    """,
    "structs": """
        named_struct struct
    """,
    "URLs": """
        parse_url try_parse_url try_url_decode url_decode url_encode
    """,
    "variants": """
        is_valid_variant is_variant_null parse_json schema_of_variant to_variant_object try_parse_json
        try_variant_array_append try_variant_get try_variant_insert try_variant_set variant_array_append
        variant_delete variant_get variant_insert variant_set variant_strip_nulls
    """,
    "vectors": """
        vector_avg vector_cosine_similarity vector_inner_product vector_l2_distance vector_norm vector_normalize
        vector_sum
    """,
    "XML": """
        from_xml schema_of_xml to_xml
    """,
}

SCALAR_FUNCTIONS: frozenset[str] = frozenset(name for names in _GROUPS.values() for name in names.split())

OWN_FUNCTIONS: frozenset[str] = frozenset({"cidr_contains", "in_list"})
"""Functions of the rule language. Spark has `cidr_contains` with the plugin, and no `in_list`."""

# Their value depends on when the query runs, so comparing with one is not comparing with a constant.
TIME_FUNCTIONS: frozenset[str] = frozenset(
    {
        "curdate",
        "current_date",
        "current_time",
        "current_timestamp",
        "current_timezone",
        "localtime",
        "localtimestamp",
        "now",
    }
)
TIME_FUNCTIONS_WITHOUT_ARGUMENTS: frozenset[str] = frozenset({"unix_timestamp", "to_unix_timestamp"})

# Words without brackets that Spark reads as environment functions if the table has no column of that name. `user` is
# not included: too many tables have a column of that name.
ENVIRONMENT_WORDS: frozenset[str] = frozenset({"current_user", "session_user", "current_path", "grouping__id"})

"""Reference lists without Spark: sources, the store, and the answers of the local matcher."""

from __future__ import annotations

import json
import random
import re
from datetime import timedelta
from fnmatch import translate
from ipaddress import ip_network
from pathlib import Path

import pyarrow as pa
import pytest

from sparkrules import RuleSet
from sparkrules.errors import CorruptStore, RuleSetError, SparkRulesError, StoreError
from sparkrules.local import NeedsSpark
from sparkrules.local.reference_list import reference_list
from sparkrules.rules.list_values import list_values
from sparkrules.sql import RuleError, parse_rule
from sparkrules.sql.tree_sql import tree_sql
from tests.sql.address_texts import ODD, is_within, random_network, random_text


@pytest.fixture
def rules(tmp_path: Path) -> RuleSet:
    return RuleSet("logins", store=tmp_path)


def test_in_list_is_a_predicate() -> None:
    tree = parse_rule("NOT (in_list('bad.ips', addr.ip) AND a > 1)")
    assert str(tree) == "addr.ip not in list 'bad.ips' or a <= 1"
    assert parse_rule(tree_sql(tree)) == tree


@pytest.mark.parametrize(
    ("text", "reason", "column"),
    [
        ("a = 1 AND in_list('../x', ip)", "not the name of a list", 19),
        ("in_list(name, ip)", "needs the name of a list first", 9),
        ("in_list('x')", "takes two arguments, not 1", 1),
        ("in_list('x', '10.0.0.1')", "needs a value of the row", 14),
        ("coalesce(in_list('x', ip), a)", "a condition of its own", 10),
        ("in_list('x', ip) = true", "a condition of its own", 1),
        ("in_list('x', in_list('y', ip))", "a condition of its own", 14),
        ("exists(ips, i -> in_list('x', i))", "a condition of its own", 18),
        ("CASE WHEN in_list('x', ip) THEN true END", "a condition of its own", 11),
    ],
)
def test_what_in_list_does_not_take_is_rejected_with_its_place(text: str, reason: str, column: int) -> None:
    with pytest.raises(RuleError, match=reason) as caught:
        parse_rule(text)
    assert caught.value.column == column


def test_many_rules_that_name_lists(rules: RuleSet) -> None:
    texts = {f"r{number}": f"a > {number} AND in_list('l{number % 3}', ip)" for number in range(100)}
    assert rules.subscribe_all({**texts, "wrong": "a > 5 AND in_list('.l', ip)"}) == 100
    assert [own.id for own in rules.rejected] == ["wrong"]
    assert str(rules.subscriptions["r7"].tree) == "a > 7 and ip in list 'l1'"


def test_a_list_changes_without_its_rules(rules: RuleSet) -> None:
    put = rules.put_list("admins", ["root", "admin", None, "root", None])
    assert (put.values, put.nulls, rules.lists()["admins"]) == (2, 2, put)
    assert "2 values, 2 NULLs left out" in str(put)
    rules.subscribe("admin", "in_list('admins', user)")
    rules.subscribe("other", "NOT in_list('admins', user)")
    version = rules.publish()
    table = pa.table({"user": ["root", "bob", None, "Root", ""]})
    assert rules.match(table).ids.to_pylist() == [["admin"], ["other"], [], ["other"], ["other"]]
    assert rules.put_list("admins", ["bob"]).number == 2
    assert rules.match(table).ids.to_pylist() == [["other"], ["admin"], [], ["other"], ["other"]]
    assert rules.version == version
    assert [manifest.format for manifest in rules.versions()] == [5]
    again = RuleSet.load("logins", store=rules.store)
    assert again.lists()["admins"].values == 1
    assert "user in list 'admins'" in str(*again.explain({"user": "bob"}, ids=["admin"]))


def test_integers_are_found_by_their_digits(rules: RuleSet) -> None:
    rules.put_list("ports", [22, "443", "0080"])
    rules.subscribe("known", "in_list('ports', port)")
    assert rules.match(pa.table({"port": [22, 443, 80, None]})).ids.to_pylist() == [["known"], ["known"], [], []]
    with pytest.raises(NeedsSpark, match="takes a STRING or an integer, not double"):
        rules.match(pa.table({"port": [22.0]}))


def test_networks_in_a_list(rules: RuleSet) -> None:
    chance = random.Random(3)
    networks = [random_network(chance) for _ in range(40)]
    networks = [network for network in networks if network.prefixlen > 6]
    texts = [*(random_text(chance.choice(networks), chance) for _ in range(400)), *ODD]
    rules.put_list("nets", [*map(str, networks), "10.0.0.0/8", "10.2.0.0/16", "10.0.0.0/8"], "cidr")
    rules.subscribe("in", "in_list('nets', ip)")
    networks += [ip_network("10.0.0.0/8")]
    wanted = [["in"] if any(is_within(text, network) for network in networks) else [] for text in texts]
    assert rules.match(pa.table({"ip": texts})).ids.to_pylist() == wanted
    assert 50 < sum(map(len, wanted)) < len(texts) - 50


GLOBS = ["*.evil.com", "a*b?c*", "exact", "?", "x*", "*mid*dle*", "l\\*t\\?r\\\\l", "é?*", "*a*a*a*a*b", "[ab]*c"]


def brute_force(glob: str, text: str) -> bool:
    """By Python's `fnmatch`, in which brackets are special and a backslash is not."""
    marked = re.sub(r"\\(.)", lambda own: f"[{own[1]}]" if own[1] != "\\" else "\\", glob.replace("[", "[[]"))
    return re.fullmatch(translate(marked), text, re.DOTALL) is not None


def test_globs_in_a_list() -> None:
    chance = random.Random(4)
    pieces = [
        ".evil.com",
        "a",
        "b",
        "c",
        "exact",
        "mid",
        "dle",
        "l*t?r\\l",
        "é",
        "x",
        "\n",
        "😀",
        "[ab]",
        "l",
        "*",
        "?",
    ]
    texts = {"".join(chance.choice(pieces) for _ in range(chance.randrange(6))) for _ in range(3_000)}
    for globs in ([glob] for glob in GLOBS):
        test = reference_list("glob", globs)
        found = {text for text in texts if test(text.encode())}
        assert found == {text for text in texts if brute_force(globs[0], text)}, globs
    assert reference_list("glob", ["*a" * 30 + "b"])(b"a" * 5_000) is False


def test_values_come_from_files_and_tables(tmp_path: Path) -> None:
    def file(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    wanted = (["a", "b c"], 0)
    assert list_values(file("a.txt", "\ufeffa\r\n# no\n\nb c\na")) == wanted
    assert list_values(file("a.csv", 'value\na\n\n"b c"\n')) == wanted
    assert list_values(file("b.csv", "n,v\n1,a\n2,b c\n3,\n"), column="v") == (["a", "b c"], 1)
    assert list_values(file("a.jsonl", '"a"\n"b c"\n7\nnull\n')) == (["7", "a", "b c"], 1)
    assert list_values(file("b.jsonl", '{"v": "a", "w": 1}\n{"v": "b c"}\n'), column="v") == wanted
    assert list_values(pa.table({"x": ["a", "b c"]})) == wanted
    pandas = pytest.importorskip("pandas")
    assert list_values(pandas.DataFrame({"x": ["a", None], "y": [1, 2]}), column="x") == (["a"], 1)
    assert list_values(str(tmp_path / "a.txt")) == wanted


@pytest.mark.parametrize(
    ("name", "content", "options", "reason"),
    [
        ("a.csv", "a,b\n1,2\n", {}, "has several columns: give column=, one of a, b"),
        ("a.csv", "a,b\n1,2\n", {"column": "c"}, "has no column 'c'"),
        ("a.csv", "a,b\n1\n", {"column": "a"}, "line 2: 1 cells under 2 columns"),
        ("a.csv", 'a\n"x\n', {}, "line 2: "),
        ("a.txt", b"ok\n\xff\xfe\n", {}, "line 2: it is not UTF-8"),
        ("a.txt", b"x" * 600_000, {}, "line 1: more than 524,288 bytes"),
        ("a.txt", b"x" * 70_000, {}, "line 1: a value has more than 65,536 characters"),
        ("a.txt", "10.0.0.0/8\noops\n", {"kind": "cidr"}, "line 2: 'oops' is not a network"),
        ("a.txt", "a\\b\n", {"kind": "glob"}, "line 1: .*backslash"),
        ("a.jsonl", '{"a": 1\n', {}, "line 1: it is not JSON"),
        ("a.jsonl", "[" * 100_000, {}, "line 1: it is not JSON"),
        ("a.jsonl", "1.5\n", {}, "line 1: a value of a list is a string or an integer, not 1.5"),
        ("a.xml", "", {}, r"\.txt, \.list, \.csv and \.jsonl files"),
        ("a.txt", "x", {"column": "v"}, "it has no columns"),
        ("a.txt", "x", {"kind": "regex"}, "is none: a list has the kind"),
    ],
)
def test_an_invalid_file_is_named_with_its_line(
    tmp_path: Path, name: str, content: str | bytes, options: dict[str, str], reason: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(RuleSetError, match=reason):
        list_values(path, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("source", [5, b"ab", {"a": 1}, [1.5], [True], ["\ud800"], "/no/such/file.txt"])
def test_what_is_no_source_is_rejected(source: object) -> None:
    with pytest.raises(RuleSetError):
        list_values(source)


@pytest.mark.parametrize("name", ["../up", "", ".hidden", "a/b", "a b"])
def test_the_name_of_a_list_is_a_name(rules: RuleSet, name: str) -> None:
    with pytest.raises(StoreError, match="is not a name"):
        rules.put_list(name, ["x"])


def test_a_rule_that_names_no_list_is_not_published(rules: RuleSet) -> None:
    rules.put_list("admins", ["root"])
    rules.subscribe("a", "in_list('admin', user)")
    with pytest.raises(
        RuleSetError, match=r"rule 'a' asks for in_list\('admin', ...\).*Did you mean 'admins'\?.*Put it"
    ):
        rules.publish()
    with pytest.raises(NeedsSpark, match="has no list 'admin'"):
        rules.match(pa.table({"user": ["x"]}))
    rules.unsubscribe("a")
    rules.subscribe("a", "in_list('admins', user)")
    rules.publish()
    rules.drop_list("admins")
    assert rules.lists() == {}
    with pytest.raises(StoreError, match="has no list 'admins'"):
        rules.drop_list("admins")


def test_garbage_collection_keeps_the_newest_lists(rules: RuleSet) -> None:
    rules.subscribe("a", "user = 'x'")
    rules.publish()
    for number in range(4):
        rules.put_list("admins", [str(number)])
    home = Path(str(rules.store.path)) / "logins" / "lists" / "admins"
    assert rules.collect_garbage(keep=2).files == ()
    gone = rules.collect_garbage(keep=2, older_than=timedelta(0)).files
    assert len([path for path in gone if path.startswith("lists/admins/")]) == 4
    assert sorted(file.name for file in home.glob("*.json")) == ["3.json", "4.json"]
    assert len(list(home.glob("*.arrow"))) == 2
    assert rules.store.list_values("logins", rules.lists()["admins"]).to_pylist() == ["3"]


def test_a_damaged_list_is_named(rules: RuleSet) -> None:
    made = rules.put_list("admins", ["root"])
    home = Path(str(rules.store.path)) / "logins" / "lists" / "admins"
    values = home / str(made.file)
    content = values.read_bytes()
    values.write_bytes(content[:-1] + b"x")
    with pytest.raises(SparkRulesError, match=r"\.arrow is damaged .* put the list again"):
        rules.store.list_values("logins", made)
    stored = json.loads((home / "1.json").read_text())
    (home / "1.json").write_text(json.dumps({**stored, "list": "others"}))
    with pytest.raises(CorruptStore, match=r"1\.json is damaged"):
        rules.lists()

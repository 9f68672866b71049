"""Rule texts that reach outside the row, to an address, a file or a class, and the trap that detects whether one did.

`{url}` stands for an address that the trap listens on, `{canary}` for the path of a file that it watches.
"""

from __future__ import annotations

import ctypes
import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

from tests.hostile.attacks.pieces import text

TARGETS = ["{url}/x.xsd", "{canary}", "file:{canary}"]

# The option that fetches, written in every way that Spark could be told it.
OPTION_MAPS = [
    "map('rowValidationXSDPath', '{to}')",
    "map('ROWVALIDATIONXSDPATH', '{to}')",
    "map('mode', 'FAILFAST', 'rowvalidationxsdpath', '{to}')",
    "map('row' 'ValidationXSDPath', '{to}')",
    "map('\\u0072owValidationXSDPath', '{to}')",
    "map(r'rowValidationXSDPath', r'{to}')",
    'map("rowValidationXSDPath", "{to}")',
    "map(concat('row', 'ValidationXSDPath'), '{to}')",
    "map('rowValidationXSDPath' || '', '{to}')",
    "map_from_arrays(array('rowValidationXSDPath'), array('{to}'))",
    "map_from_entries(array(struct('rowValidationXSDPath', '{to}')))",
    "map_concat(map('mode', 'FAILFAST'), map('rowValidationXSDPath', '{to}'))",
    "str_to_map('rowValidationXSDPath={to}', ',', '=')",
    "CAST(map('rowValidationXSDPath', '{to}') AS MAP<STRING, STRING>)",
    "(map('rowValidationXSDPath', '{to}'))",
    "if(true, map('rowValidationXSDPath', '{to}'), map('mode', 'FAILFAST'))",
    "coalesce(map('rowValidationXSDPath', '{to}'))",
    "transform_values(map('rowValidationXSDPath', '{to}'), (k, v) -> v)",
    "from_json('{{\"rowValidationXSDPath\": \"{to}\"}}', 'map<string,string>')",
    "builtin.map('rowValidationXSDPath', '{to}')",
    "`map`('rowValidationXSDPath', '{to}')",
    "IDENTIFIER('map')('rowValidationXSDPath', '{to}')",
]
READERS = [
    "from_xml('<r>1</r>', 'a INT', {options}).a = 1",
    "from_xml(x, 'a INT', {options}).a = 1",
    "schema_of_xml('<r>1</r>', {options}) = 'x'",
    "from_xml('<r>1</r>', schema_of_xml('<r>1</r>', {options})).a = 1",
    "system.builtin.from_xml('<r>1</r>', 'a INT', {options}).a = 1",
    "IDENTIFIER('from_xml')('<r>1</r>', 'a INT', {options}).a = 1",
    "IDENTIFIER(concat('schema_of', '_xml'))('<r>1</r>', {options}) = 'x'",
    "s = schema_of_xml('<r>1</r>', {options})",
    "a IN (1, length(schema_of_xml('<r>1</r>', {options})))",
    "exists(array(x), y -> from_xml(y, 'a INT', {options}).a = 1)",
    "CASE WHEN a = 1 THEN from_xml('<r>1</r>', 'a INT', {options}).a = 1 END",
    "named_struct(schema_of_xml('<r>1</r>', {options}), 1) IS NULL",
    "(SELECT schema_of_xml('<r>1</r>', {options})) = 'x'",
    "EXISTS (SELECT from_xml('<r>1</r>', 'a INT', {options}))",
    "from_json(s, schema_of_xml('<r>1</r>', {options})) IS NULL",
    "to_xml(named_struct('a', 1), {options}) = 'x'",
    "collate(s, schema_of_xml('<r>1</r>', {options})) = 'x'",
    "s LIKE ANY (schema_of_xml('<r>1</r>', {options}), 'x')",
]

# Documents that name others.
DOCUMENTS = [
    '<!DOCTYPE a SYSTEM "{to}"><a>1</a>',
    '<!DOCTYPE a PUBLIC "-//X//EN" "{to}"><a>1</a>',
    '<!DOCTYPE a [<!ENTITY e SYSTEM "{to}">]><a>&e;</a>',
    '<!DOCTYPE a [<!ENTITY % e SYSTEM "{to}"> %e;]><a>1</a>',
    '<?xml version="1.0"?><!DOCTYPE a SYSTEM "{to}" [<!ENTITY e "1">]><a>&e;</a>',
    '<?xml version="1.0" standalone="no"?>\n<!-- x --><!DOCTYPE a\nSYSTEM\n"{to}"><a>1</a>',
    '<?xml-stylesheet href="{to}" type="text/xsl"?><a>1</a>',
    '<a xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:noNamespaceSchemaLocation="{to}">1</a>',
    '<a xmlns:xi="http://www.w3.org/2001/XInclude"><xi:include href="{to}" parse="text"/></a>',
    '<a xml:base="{to}" xmlns="{to}">1</a>',
    '<!DOCTYPE a [<!NOTATION n SYSTEM "{to}"><!ENTITY e SYSTEM "{to}" NDATA n><!ATTLIST a e ENTITY "e">]><a>1</a>',
]
DOCUMENT_READERS = [
    "xpath_string({document}, 'a') = '1'",
    "xpath_boolean({document}, 'a')",
    "xpath_int({document}, 'a') = 1",
    "size(xpath({document}, 'a/text()')) = 1",
    "from_xml({document}, 'a STRING').a = '1'",
    "schema_of_xml({document}) = 'x'",
    "from_xml(s, schema_of_xml({document})) IS NULL",
    "named_struct(xpath_string({document}, 'a'), 1) IS NULL",
    "IDENTIFIER('xpath_string')({document}, 'a') = '1'",
    "builtin.xpath_string({document}, 'a') = '1'",
    "(SELECT xpath_string({document}, 'a')) = '1'",
    "xpath_string(CAST(CAST({document} AS BINARY) AS STRING), 'a') = '1'",
    "xpath_string(CAST({document} AS BINARY), 'a') = '1'",
    "exists(array({document}), y -> xpath_string(y, 'a') = '1')",
]

OTHERS = [
    "from_avro(b, '{{\"type\":\"int\"}}', map('avroSchemaUrl', '{to}')) = 1",
    "from_avro(b, 'int', map('avroSchemaURL', '{to}')) = 1",
    "schema_of_avro('{{\"type\":\"int\"}}', map('avroSchemaUrl', '{to}')) = 'x'",
    "to_avro(s, '{to}') IS NULL",
    "from_protobuf(b, 'M', '{to}') IS NULL",
    "to_protobuf(struct(a), 'M', '{to}') IS NULL",
    "from_protobuf(b, 'M', '{to}', map('mode', 'FAILFAST')) IS NULL",
    "xpath_string(x, 'document(\"{to}\")') = '1'",
    "xpath_string(x, 'unparsed-text(\"{to}\")') = '1'",
    "xpath_string(x, 'java:java.net.URL.new(\"{to}\")') = '1'",
    "parse_url('{to}', 'HOST') = 'x'",
    "try_parse_url('{to}', 'QUERY', 'a') = 'x'",
    "url_decode('{to}') = 'x'",
    "from_json(s, '{to}') IS NULL",
    "from_json('\"{to}\"', 'variant') IS NULL",
    "parse_json('\"{to}\"') IS NULL",
    "from_csv(s, '{to}') IS NULL",
    "from_json(s, 'a INT', map('compression', 'org.apache.hadoop.io.compress.BZip2Codec')).a = 1",
    "from_csv(s, 'a INT', map('codec', 'org.apache.derby.jdbc.EmbeddedDriver')).a = 1",
    "to_xml(struct(a), map('compression', 'no.such.Class')) = 'x'",
    "(SELECT count(*) FROM text.`{to}`) = 1",
    "(SELECT count(*) FROM csv.`{to}`) = 1",
    "a IN (SELECT CAST(value AS INT) FROM text.`{to}`)",
    "EXISTS (FROM json.`{to}`)",
    "EXISTS (SELECT 1 FROM read_files('{to}'))",
    "reflect('java.nio.file.Files', 'readString', '{to}') = 'x'",
    "java_method('javax.imageio.ImageIO', 'read', '{to}') IS NULL",
    "try_reflect('java.net.URLConnection', 'guessContentTypeFromName', '{to}') = 'x'",
    "java_method('java.util.ResourceBundle', 'getBundle', '{to}') IS NULL",
    "input_file_name() = '{to}'",
    "CAST('{to}' AS `{to}`) = 1",
    "date_format(ts, '{to}') = 'x'",
    "from_utc_timestamp(ts, '{to}') = ts",
    "s COLLATE `{to}` = 'x'",
    "collate(s, '{to}') = 'x'",
    "encode(s, '{to}') = b",
    "decode(b, '{to}') = s",
    "is_valid_utf8('{to}')",
    "st_geomfromwkb(CAST('{to}' AS BINARY)) IS NULL",
    "aes_decrypt(b, '{to}') = b",
    "IDENTIFIER('text.`{to}`') = 1",
    "`text`.`{to}`.value = 1",
]


def reach() -> Iterator[str]:
    """All of them, `{url}` and `{canary}` to be filled in."""
    for target in TARGETS:
        for reader in READERS:
            yield reader.format(options=OPTION_MAPS[0].format(to=target))
        for document in DOCUMENTS:
            yield f"xpath_string({text(document.format(to=target))}, 'a') = '1'"
        for other in OTHERS:
            yield other.format(to=target)
    for reader in READERS[:4]:
        for options in OPTION_MAPS[1:]:
            yield reader.format(options=options.format(to=TARGETS[0]))
    for reader in DOCUMENT_READERS:
        for document in DOCUMENTS:
            yield reader.format(document=text(document.format(to=TARGETS[0])))
        yield reader.format(document="doctype")  # a column with such a document


def laid(pattern: str, url: str, canary: Path) -> str:
    """A text with the addresses of a trap."""
    return pattern.replace("{url}", url).replace("{canary}", str(canary))


class Trap:
    """Listens on loopback and watches a file: `sprung()` tells what came.

    A connection is counted and answered with an empty schema; the kernel reports who opens the file (inotify).
    """

    def __init__(self, directory: Path) -> None:
        self.canary = directory / "canary.xsd"
        self.canary.write_text(
            '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="r"/></xs:schema>'
        )
        self._connections: list[str] = []
        self._server = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._server.getsockname()[1]}"
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._watch = self._libc.inotify_init1(os.O_NONBLOCK)
        if self._watch < 0 or self._libc.inotify_add_watch(self._watch, bytes(self.canary), 0x20) < 0:  # IN_OPEN
            raise OSError(ctypes.get_errno(), "inotify")
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def __enter__(self) -> Trap:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()
        self._thread.join(5)
        os.close(self._watch)

    def sprung(self) -> list[str]:
        """What has come since the last call: the first line of each connection, and `opened` if the file was."""
        found, self._connections = self._connections, []
        try:
            while os.read(self._watch, 4096):
                found.append("opened")
        except BlockingIOError:
            pass
        return found

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._server.accept()
            except OSError:
                return
            with connection:
                connection.settimeout(2)
                try:
                    line = connection.recv(1000).split(b"\r\n")[0].decode(errors="replace")
                    connection.sendall(b"HTTP/1.0 404 Not Found\r\nContent-Length: 0\r\n\r\n")
                except OSError:
                    line = "connected"
                self._connections.append(line)

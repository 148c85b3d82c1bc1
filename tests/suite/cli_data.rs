//! Data files, right and wrong, as the program reads them. `sbl new` is the command, since it needs
//! nothing but data.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::cli_run::{Place, Ran};

/// Reads one file and gives the starter model, or what is wrong.
fn read(name: &str, content: &[u8], more: &[&str]) -> Ran {
    let place = Place::new();
    place.file(name, content);
    let mut args = vec!["new", "--data", name, "--target", "t"];
    args.extend(more);
    place.run(&args)
}

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

fn utf16(text: &str, mark: bool) -> Vec<u8> {
    let mark = if mark { vec![0xff, 0xfe] } else { Vec::new() };
    mark.into_iter().chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect()
}

/// Files that are read: name, content, options, a part of the model that shows how.
#[test]
fn readable() {
    let plain: &[u8] = b"x,t\n1,1.5\n2,2.5\n4,3\n";
    let compressed = gzip(plain);
    let numbers = "x: real[N, D] from columns(\"x\")";
    type Case<'a> = (&'a str, &'a str, &'a [u8], &'a [&'a str], &'a str);
    let cases: &[Case<'_>] = &[
        ("plain", "a.csv", plain, &[], numbers),
        ("no final newline", "a.csv", b"x,t\n1,1.5\n2,2.5\n4,3", &[], numbers),
        ("byte order mark", "a.csv", b"\xef\xbb\xbfx,t\n1,1.5\n2,2.5\n4,3\n", &[], numbers),
        ("CRLF", "a.csv", b"x,t\r\n1,1.5\r\n2,2.5\r\n4,3\r\n", &[], numbers),
        ("CR", "a.csv", b"x,t\r1,1.5\r2,2.5\r4,3\r", &[], numbers),
        ("blanks around cells", "a.csv", b" x , t\n 1 , 1.5\n2, 2.5\n4,3\n", &[], numbers),
        ("quoted cells", "a.csv", b"\"x\",\"t\"\n\"1\",1.5\n2,\"2.5\"\n4,3\n", &[], numbers),
        ("gzipped", "a.csv.gz", &compressed, &[], numbers),
        ("gzipped, unsaid", "a.csv", &compressed, &[], numbers),
        ("tabs", "a.tsv", b"x\tt\n1\t1.5\n2\t2.5\n4\t3\n", &[], numbers),
        ("tabs, said", "a.csv", b"x\tt\n1\t1.5\n2\t2.5\n4\t3\n", &["--delimiter", "tab"], numbers),
        ("semicolons, said", "a.csv", b"x;t\n1;1.5\n2;2.5\n4;3\n", &["--delimiter", ";"], numbers),
        ("upper-case name", "A.CSV", plain, &[], numbers),
        ("any name", "data", plain, &[], numbers),
        (
            "Unicode names",
            "a.csv",
            "größe,日本,t\n1,2,1.5\n2,5,2.5\n4,3,3\n".as_bytes(),
            &[],
            "columns(\"größe\", \"日本\")",
        ),
        (
            "quoted newline",
            "a.csv",
            b"x,t,s\n1,1.5,\"a\nb\"\n2,2.5,v\n4,3,\"a\r\nb\"\n5,1,v\n",
            &[],
            "data s: category[N]",
        ),
        ("quote in a name", "a.csv", b"\"x\"\"\",t\n1,1.5\n2,2.5\n4,3\n", &[], "from columns(\"x\\\"\")"),
        (
            "missing target",
            "a.csv",
            b"x,t\n1,\n2,NA\n4,NaN\n5,1\n",
            &[],
            "t: real[N]  # 3 rows without a value",
        ),
        (
            "missing, said",
            "a.csv",
            b"x,t\n1,-999\n2,-999.0\n4,?\n5,1\n",
            &["--na", "-999,?"],
            "# 3 rows without a value",
        ),
        ("missing input", "a.csv", b"x,t\n,1.5\n2,2.5\n4,3\n", &[], "not used: x (1 value missing)"),
        ("infinite input", "a.csv", b"x,t\ninf,1.5\n2,2.5\n4,3\n", &[], "not used: x (infinite values)"),
        ("constant input", "a.csv", b"x,t\n1,1.5\n1,2.5\n1,3\n", &[], "not used: x (the same value"),
        ("words", "a.csv", b"x,t\na,1.5\na,2.5\nb,3\nb,4\n", &[], "data x: category[N]"),
        ("JSON", "a.json", br#"{"x": [1, 2, 4], "t": [1.5, 2.5, 3]}"#, &[], numbers),
        ("JSON with a mark", "a.json", b"\xef\xbb\xbf{\"x\": [1, 2, 4], \"t\": [1.5, 2.5, 3]}", &[], numbers),
        (
            "JSON, missing",
            "a.json",
            br#"{"x": [1, 2, 4], "t": [1.5, null, "NaN"]}"#,
            &[],
            "# 2 rows without a value",
        ),
        (
            "JSON, infinite",
            "a.json",
            br#"{"x": [1, "Inf", 4], "t": [1.5, 2, 3]}"#,
            &[],
            "not used: x (infinite values)",
        ),
        ("JSON, matrix", "a.json", br#"{"z": [[1, 2], [3, 4]], "t": [1.5, 2]}"#, &[], "data z: real[N, D1]"),
        (
            "JSON, scalar",
            "a.json",
            br#"{"n": 2, "x": [1, 2], "t": [1.5, 2]}"#,
            &[],
            "not used: n (1 row instead of 2)",
        ),
        (
            "JSON, words",
            "a.json",
            br#"{"x": ["a", "a", "b", "b"], "t": [1.5, 2, 3, 4]}"#,
            &[],
            "data x: category[N]",
        ),
        ("JSON, truth", "a.json", br#"{"x": [1, 2, 4], "t": [true, false, true]}"#, &[], "data t: bool[N]"),
        ("JSON, gzipped", "a.json.gz", &gzip(br#"{"x": [1, 2, 4], "t": [1.5, 2.5, 3]}"#), &[], numbers),
    ];
    for (what, name, content, more, shows) in cases {
        let ran = read(name, content, more);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{what}: {ran:?}");
        assert!(ran.out.contains(shows), "{what}: {shows:?} is not in\n{}", ran.out);
    }
}

/// Files that are read with a warning.
#[test]
fn doubtful() {
    let cases: &[(&str, &str, &[u8], &str, &str)] = &[
        ("blank lines at the end", "a.csv", b"x,t\n1,1.5\n2,2\n\n\n", "W0750", "lines 4, 5: are blank"),
        ("header of numbers", "a.csv", b"1,2,t\n1,1,1.5\n2,3,2\n", "", ""),
        ("large integer", "a.csv", b"x,t\n9007199254740993,1.5\n2,2\n", "W0752", "column \"x\", line 2"),
        ("tiny number", "a.csv", b"x,t\n1e-400,1.5\n2,2\n", "W0753", "was read as 0"),
        (
            "large integer, JSON",
            "a.json",
            br#"{"x": [9007199254740993, 1], "t": [1, 2]}"#,
            "W0752",
            "entry 1",
        ),
        (
            "metadata",
            "a.json",
            br#"{"note": "May", "x": [2, 1], "t": [1, 2]}"#,
            "W0754",
            "\"note\" is a text",
        ),
        ("object", "a.json", br#"{"meta": {}, "x": [2, 1], "t": [1, 2]}"#, "W0754", "\"meta\" is an object"),
        ("null", "a.json", br#"{"meta": null, "x": [2, 1], "t": [1, 2]}"#, "W0754", "\"meta\" is null"),
        (
            "twins",
            "a.csv",
            "é,e\u{301},t\n1,2,1.5\n2,3,2\n".as_bytes(),
            "W0755",
            "columns 1 and 2 look alike",
        ),
    ];
    for (what, name, content, code, says) in cases {
        let ran = read(name, content, &[]).exits(0);
        assert!(ran.err.contains(code) && ran.err.contains(says), "{what}: {}", ran.err);
        assert_eq!(code.is_empty(), ran.err.is_empty(), "{what}: {}", ran.err);
    }
    let ran =
        Place::new().file("a.csv", "0.5,1.5\n1,2\n3,4\n").run(&["new", "--data", "a.csv", "--target", "1.5"]);
    assert!(ran.exits(0).err.contains("W0751"));
}

/// Files that are refused: what, name, content, options, code, part of the message, part of the help.
#[test]
fn refused() {
    let cut = {
        let mut whole = gzip(&b"x,t\n1,2\n".repeat(1000));
        whole.truncate(whole.len() / 2);
        whole
    };
    type Case<'a> = (&'a str, &'a str, &'a [u8], &'a [&'a str], &'a str, &'a str, &'a str);
    let cases: &[Case<'_>] = &[
        ("empty", "a.csv", b"", &[], "E0751", "an empty file", "a line of column names"),
        ("blank", "a.csv", b"\n\n", &[], "E0751", "an empty file", ""),
        ("header only", "a.csv", b"x,t\n", &[], "E0751", "a header and no rows", ""),
        ("empty JSON", "a.json", b" ", &[], "E0751", "an empty file", ""),
        ("no columns", "a.json", b"{}", &[], "E0751", "no rows", ""),
        ("UTF-16", "a.csv", &utf16("x,t\n1,2\n", true), &[], "E0752", "UTF-16", "iconv -f UTF-16"),
        ("UTF-16 unmarked", "a.csv", &utf16("x,t\n1,2\n", false), &[], "E0752", "UTF-16", "iconv"),
        ("Latin-1", "a.csv", b"x,t\n1,2\n\xfc,3\n", &[], "E0752", "0xFC on line 3", "iconv -f WINDOWS-1252"),
        ("zero byte", "a.csv", b"x,t\n1,2\n3\0,4\n", &[], "E0752", "zero byte on line 3", "UTF-8"),
        ("semicolons", "a.csv", b"x;t\n1;2\n", &[], "E0753", "semicolons", "--delimiter ';'"),
        ("tabs in .csv", "a.csv", b"x\tt\n1\t2\n", &[], "E0753", "tabs", "--delimiter tab"),
        ("commas in .tsv", "a.tsv", b"x,t\n1,2\n", &[], "E0753", "commas", "--delimiter ','"),
        ("duplicate header", "a.csv", b"x,x,t\n1,2,3\n", &[], "E0754", "columns 1 and 2 are both named", ""),
        (
            "empty header",
            "a.csv",
            b"x,,t\n1,2,3\n",
            &[],
            "E0754",
            "column 2 has no name",
            "name every column",
        ),
        (
            "hidden character",
            "a.csv",
            "x\u{202e},t\n1,2\n".as_bytes(),
            &[],
            "E0754",
            "U+202E",
            "type the name",
        ),
        (
            "too few cells",
            "a.csv",
            b"x,t\n1,2\n3\n4,5\n6\n",
            &[],
            "E0755",
            "lines 3, 5: found 1 cell",
            "expected 2",
        ),
        (
            "too many cells",
            "a.csv",
            b"x,t\n1,2,3\n",
            &[],
            "E0755",
            "line 2: found 3 cells, expected 2",
            "quoted",
        ),
        ("blank line", "a.csv", b"x,t\n1,2\n\n3,4\n", &[], "E0756", "line 3: is blank", "delete blank lines"),
        ("blank line, one column", "a.csv", b"t\n1\n\n3\n", &[], "E0756", "line 3: is blank", "write NA"),
        ("blank end, one column", "a.csv", b"t\n1\n2\n\n", &[], "E0756", "line 4: is blank", "write NA"),
        ("blank first line", "a.csv", b"\nx,t\n1,2\n", &[], "E0756", "line 1: is blank", ""),
        ("open quote", "a.csv", b"x,t\n1,2\n\"3,4\n5,6\n", &[], "E0757", "line 3", "close it"),
        ("after a quote", "a.csv", b"x,t\n\"1\"a,2\n", &[], "E0757", "line 2: found 'a'", "twice"),
        (
            "too large",
            "a.csv",
            b"x,t\n1e400,2\n2,3\n-1e999,4\n",
            &[],
            "E0758",
            "column \"x\", lines 2, 4",
            "unit",
        ),
        ("malformed JSON", "a.json", b"{\"x\": [1, 2,\n}", &[], "E0759", "line 2, column", ""),
        ("bare NaN", "a.json", b"{\"x\": [1, NaN], \"t\": [1, 2]}", &[], "E0759", "line 1", "write null"),
        ("bare -Infinity", "a.json", b"{\"x\": [1, -Infinity]}", &[], "E0759", "line 1", "write null"),
        ("1e400 in JSON", "a.json", b"{\"x\": [1e400], \"t\": [1]}", &[], "E0759", "out of range", "unit"),
        ("two objects", "a.json", b"{\"t\": [1]} {}", &[], "E0759", "trailing characters", ""),
        ("deep JSON", "a.json", &deep(), &[], "E0759", "recursion limit", ""),
        (
            "array of records",
            "a.json",
            b"[{\"t\": 1}]",
            &[],
            "E0760",
            "expected an object of columns",
            "one array",
        ),
        (
            "ragged matrix",
            "a.json",
            b"{\"z\": [[1, 2], [3]], \"t\": [1, 2]}",
            &[],
            "E0760",
            "row 2 has length 1",
            "",
        ),
        (
            "row missing",
            "a.json",
            b"{\"z\": [[1, 2], null], \"t\": [1, 2]}",
            &[],
            "E0760",
            "row 2 is null",
            "",
        ),
        (
            "nested too deep",
            "a.json",
            b"{\"z\": [[[1]]], \"t\": [1]}",
            &[],
            "E0760",
            "nest at most twice",
            "",
        ),
        ("matrix of words", "a.json", b"{\"z\": [[\"a\"]], \"t\": [1]}", &[], "E0760", "holds texts", ""),
        ("object in an array", "a.json", b"{\"t\": [{}]}", &[], "E0760", "entry 1 is an object", ""),
        ("duplicate key", "a.json", b"{\"t\": [1], \"t\": [2]}", &[], "E0754", "both named \"t\"", ""),
        (
            "too much",
            "a.csv",
            &b"x,t\n1,2\n".repeat(100),
            &["--max-memory", "100"],
            "E0762",
            "800 bytes",
            "--max-memory",
        ),
        (
            "too much, unpacked",
            "a.gz",
            &gzip(&b"x,t\n".repeat(1000)),
            &["--max-memory", "200"],
            "E0762",
            "may take 200 bytes",
            "",
        ),
        (
            "too many cells for the budget",
            "a.csv",
            &b"x,t\n1,2\n".repeat(9)[..],
            &["--max-memory", "80"],
            "E0762",
            "80 bytes",
            "",
        ),
        (
            "too much JSON",
            "a.json",
            b"{\"t\": [1, 2, 3]}",
            &["--max-memory", "100"],
            "E0762",
            "needs 256 bytes",
            "",
        ),
        ("workbook", "a.xlsx", b"", &[], "E0763", "spreadsheets are not read", "CSV"),
        (
            "workbook, unsaid",
            "a.csv",
            b"PK\x03\x04....",
            &[],
            "E0763",
            "a zip archive or a spreadsheet",
            "CSV",
        ),
        #[cfg(not(feature = "arrow"))]
        ("Parquet", "a.parquet", b"PAR1", &[], "E0773", "built without Parquet", "--features arrow"),
        #[cfg(feature = "arrow")]
        ("Parquet", "a.parquet", b"PAR1", &[], "E0774", "cannot read a.parquet", "write it again"),
        ("cut gzip", "a.csv.gz", &cut, &[], "E0764", "cannot unpack a.csv.gz", "cut short"),
        (
            "no such target",
            "a.csv",
            b"x,tt\n1,2\n",
            &[],
            "E0765",
            "--target names \"t\"",
            "its columns are x, tt",
        ),
        ("target without values", "a.csv", b"x,t\n1,NA\n2,\n", &[], "E0766", "has no value", ""),
        (
            "target is a matrix",
            "a.json",
            b"{\"t\": [[1, 2]]}",
            &[],
            "E0766",
            "no column of single values",
            "",
        ),
    ];
    for (what, name, content, more, code, says, helps) in cases {
        let ran = read(name, content, more);
        assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{what}: {ran:?}");
        assert!(ran.err.contains(&format!("error[{code}]")), "{what}: {code} is not in\n{}", ran.err);
        assert!(ran.err.contains(says), "{what}: {says:?} is not in\n{}", ran.err);
        assert!(ran.err.contains(helps), "{what}: {helps:?} is not in\n{}", ran.err);
    }
}

fn deep() -> Vec<u8> {
    [b"{\"t\": ".to_vec(), vec![b'['; 100_000]].concat()
}

/// Paths that cannot be read.
#[test]
fn unreadable() {
    let place = Place::new();
    std::fs::create_dir(place.path("folder")).unwrap();
    let read = |name: &str| place.run(&["new", "--data", name, "--target", "t"]).exits(1).err;
    assert!(read("none.csv").contains("error[E0750]: cannot read none.csv: no such file"));
    assert!(read("folder").contains("found a directory"));
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("loop.csv", place.path("loop.csv")).unwrap();
        assert!(read("loop.csv").contains("E0750"));
        std::os::unix::fs::symlink("gone.csv", place.path("link.csv")).unwrap();
        assert!(read("link.csv").contains("E0750"));
    }
}

/// Every file is read before the first error ends the run.
#[test]
fn every_error_is_shown() {
    let place = Place::new();
    place.file("a.csv", "x,x,t\n1,2\n").file("b.json", "{");
    let err = place
        .run(&["new", "--data", "a.csv", "--data", "b.json", "--data", "c.csv", "--target", "t"])
        .exits(1)
        .err;
    for code in ["E0754", "E0755", "E0759", "E0750"] {
        assert!(err.contains(code), "{code} is not in\n{err}");
    }
}

#[test]
fn standard_input() {
    let place = Place::new();
    let args = ["new", "--data", "-", "--target", "t"];
    let ran = place.pipe(&args, "x,t\n1,1.5\n2,2.5\n4,3\n").exits(0);
    assert!(ran.out.contains("# Starter model for standard input: 3 rows"), "{}", ran.out);
    let packed = gzip(b"x,t\n1,1.5\n2,2.5\n4,3\n");
    assert_eq!(place.pipe(&args, packed).exits(0).out, ran.out);
    assert!(place.pipe(&args, "").exits(1).err.contains("standard input has no rows"));
    assert!(
        place
            .run(&["new", "--data", "-", "--data", "-", "--target", "t"])
            .exits(1)
            .err
            .contains("named twice")
    );
}

#[test]
fn files_side_by_side() {
    let place = Place::new();
    place
        .file("x.csv", "x,id\n1,a\n2,b\n4,c\n")
        .file("t.json", r#"{"t": [1.5, 2.5, 3]}"#)
        .file("u.csv", "u,x\n1,2\n");
    let ran = place.run(&["new", "--data", "x.csv", "--data", "t.json", "--target", "t"]).exits(0);
    assert!(ran.out.contains("from columns(\"x\")") && ran.out.contains("not used: id"), "{}", ran.out);
    let err = place.run(&["new", "--data", "x.csv", "--data", "u.csv", "--target", "x"]).exits(1).err;
    assert!(err.contains("error[E0715]: column `x` is in x.csv and in u.csv"), "{err}");
}

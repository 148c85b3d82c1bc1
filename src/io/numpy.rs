//! Data in NumPy files: an array is a column, an archive of arrays is a table.

use sbl::data::Data;
use sbl::diag::{Diagnostic, Diagnostics, Staged, Warned};

use super::npy::{self, Fault};
use super::{ReadOptions, errors, names, zip};

/// Entries take at most about this many times their bytes (one byte is a number of eight).
const EXPANSION: u64 = 9;

/// One array; its column is called as the file is.
pub fn parse_npy(bytes: &[u8], origin: &str, name: &str, options: &ReadOptions) -> Staged<Data> {
    verify_size(bytes, origin, options)?;
    let array = npy::read(bytes, options).map_err(|fault| {
        let what = match &fault {
            Fault::Damaged(what) => what.clone(),
            Fault::NotRead(what) => format!("found {what}"),
        };
        vec![errors::numpy(origin, None, &what)]
    })?;
    let mut data = Data::new().named(origin);
    let mut found: Diagnostics = rounded(origin, name, array.rounded).into_iter().collect();
    if array.column.rows() == 0 {
        found.push(errors::no_entries(origin));
        return Err(found);
    }
    data.insert(name, array.column);
    Ok(Warned::new(data, found))
}

/// Every array of an archive, as `numpy.savez` writes it; what is no data is left out with a warning.
pub fn parse_npz(bytes: &[u8], origin: &str, options: &ReadOptions) -> Staged<Data> {
    let members = zip::members(bytes, origin, options.max_memory).map_err(|d| vec![d])?;
    let called = |name: &str| name.strip_suffix(".npy").unwrap_or(name).to_owned();
    let all: Vec<String> = members.iter().map(|m| called(&m.name)).collect();
    let mut found = Diagnostics::new();
    names::verify(&all, origin, &mut found);
    let mut data = Data::new().named(origin);
    for (name, member) in all.iter().zip(&members) {
        if !member.name.ends_with(".npy") {
            found.push(errors::ignored(origin, &member.name, "no array"));
            continue;
        }
        verify_size(&member.content, origin, options)?;
        match npy::read(&member.content, options) {
            Ok(array) => {
                found.extend(rounded(origin, name, array.rounded));
                data.insert(name, array.column);
            }
            Err(Fault::NotRead(what)) => found.push(errors::ignored(origin, name, &format!("{what},"))),
            Err(Fault::Damaged(what)) => found.push(errors::numpy(origin, Some(name), &what)),
        }
    }
    let rows = data.names().filter_map(|n| data.column(n)).any(|c| c.rows() > 0);
    if !rows && found.iter().all(|d| !d.is_error()) {
        found.push(errors::no_entries(origin));
    }
    if found.iter().any(|d| d.is_error()) { Err(found) } else { Ok(Warned::new(data, found)) }
}

fn verify_size(bytes: &[u8], origin: &str, options: &ReadOptions) -> Result<(), Diagnostics> {
    let wanted = (bytes.len() as u64).saturating_mul(EXPANSION);
    if wanted > options.max_memory {
        return Err(vec![errors::too_large(origin, wanted, options.max_memory)]);
    }
    Ok(())
}

fn rounded(origin: &str, name: &str, count: usize) -> Option<Diagnostic> {
    (count > 0).then(|| errors::rounded_entries(origin, name, count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sbl::data::Column;

    const PLAIN: &[u8] = include_bytes!("../../tests/data/plain.npz");
    const PACKED: &[u8] = include_bytes!("../../tests/data/packed.npz");
    const TYPES: &[u8] = include_bytes!("../../tests/data/types.npz");
    const MATRIX: &[u8] = include_bytes!("../../tests/data/matrix.npy");
    const VERSIONS: [&[u8]; 3] = [
        include_bytes!("../../tests/data/version1.npy"),
        include_bytes!("../../tests/data/version2.npy"),
        include_bytes!("../../tests/data/version3.npy"),
    ];
    /// As in `tests/data/write.py`, row by row.
    const X: [f64; 12] = [1.0, 0.0, -2.5, 0.5, 3.0, 0.0, 0.0, 0.0, 1e-3, 4.0, -1.0, 0.25];

    fn npz(bytes: &[u8]) -> Staged<Data> {
        parse_npz(bytes, "a.npz", &ReadOptions::default())
    }

    fn npy(bytes: &[u8]) -> Staged<Data> {
        parse_npy(bytes, "a.npy", "a", &ReadOptions::default())
    }

    fn words(all: &[Option<&str>]) -> Column {
        Column::Words(all.iter().map(|w| w.map(Into::into)).collect())
    }

    /// Equal, and missing where the other is.
    fn same(a: &Column, b: &Column) -> bool {
        format!("{a:?}") == format!("{b:?}")
    }

    fn message(found: Staged<Data>) -> String {
        let found = found.unwrap_err();
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].help.is_some());
        format!("{}: {}", found[0].code, found[0].message)
    }

    /// A version 1 file with this header.
    fn array(header: &str, data: &[u8]) -> Vec<u8> {
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.bytes());
        bytes.extend(data);
        bytes
    }

    #[test]
    fn archives_of_numpy() {
        let matrix = Column::Matrix { values: X.to_vec(), width: 3, names: None };
        let g = words(&[Some("low"), Some("high"), Some("höher"), None]);
        for (bytes, t) in [(PLAIN, [1.5, -2.0, f64::NAN, 1e6]), (PACKED, [1.5, -2.0, f64::NAN, 1e6])] {
            let read = npz(bytes).unwrap();
            assert!(read.warnings.is_empty());
            assert_eq!(read.value.names().collect::<Vec<_>>(), ["x", "t", "g"]);
            assert_eq!(read.value.column("x"), Some(&matrix));
            assert_eq!(read.value.column("g"), Some(&g));
            assert!(same(read.value.column("t").unwrap(), &Column::Numbers(t.to_vec())));
        }
        assert_eq!(npy(MATRIX).unwrap().value.column("a"), Some(&matrix));
        for bytes in VERSIONS {
            assert_eq!(npy(bytes).unwrap().value.column("a"), Some(&Column::Numbers(vec![1.5, -2.0])));
        }
    }

    #[test]
    fn every_type_of_entry() {
        let read = npz(TYPES).unwrap();
        let two53 = 9_007_199_254_740_992.0;
        let numbers = |name: &str, expected: [f64; 4]| {
            assert_eq!(read.value.column(name), Some(&Column::Numbers(expected.to_vec())), "{name}");
        };
        numbers("f8_big", [1.0, 0.5, 0.0, 4.0]);
        numbers("f4", [1.0, 0.5, 0.0, 4.0]);
        numbers("i1", [-128.0, -1.0, 0.0, 127.0]);
        numbers("i4_big", [-2147483648.0, -1.0, 0.0, 2147483647.0]);
        numbers("i8", [-two53, -1.0, 0.0, two53]);
        numbers("large", [-two53, two53, 4611686018427387904.0, 3.0]);
        numbers("u1", [0.0, 1.0, 128.0, 255.0]);
        numbers("u8", [0.0, 1.0, two53, 9223372036854775808.0]);
        numbers("flag", [1.0, 0.0, 1.0, 1.0]);
        let flags = vec![1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 1.0];
        let flags = Column::Matrix { values: flags, width: 2, names: None };
        assert_eq!(read.value.column("flags"), Some(&flags));
        for name in ["word", "word_big"] {
            let expected = words(&[Some("a"), Some("bb"), None, Some("日本")]);
            assert_eq!(read.value.column(name), Some(&expected), "{name}");
        }
        assert_eq!(read.value.column("byte"), Some(&words(&[Some("a"), Some("bb"), Some("c"), None])));
        assert_eq!(read.value.column("scalar"), Some(&Column::Scalar(3.5)));
        let told: Vec<&str> = read.warnings.iter().map(|w| w.message.as_str()).collect();
        assert_eq!(
            told,
            [
                "a.npz, array \"large\": 2 integers above 2^53 were rounded",
                "a.npz: \"objects\" is Python objects, which only Python can unpickle (dtype \"|O\"), and was not read",
                "a.npz: \"complex\" is complex numbers (dtype \"<c16\"), and was not read",
                "a.npz: \"dates\" is dates or times, expected numbers (dtype \"<M8[D]\"), and was not read",
                "a.npz: \"cube\" is an array of shape (2, 2, 1), expected one axis (a column) or two (a matrix), and was not read",
                "a.npz: \"half\" is numbers of a size that is not read, expected 4 or 8 bytes (dtype \"<f2\"), and was not read",
                "a.npz: \"records\" is records with named fields, expected one array for each column, and was not read",
            ]
        );
    }

    #[test]
    fn an_archive_that_is_changed_is_an_error_or_says_the_same() {
        let good = npz(PACKED).unwrap().value;
        for end in 0..PACKED.len() {
            assert!(message(npz(&PACKED[..end])).starts_with("E0764: cannot unpack a.npz: "));
        }
        for bit in 0..8 * PACKED.len() {
            let mut bad = PACKED.to_vec();
            bad[bit / 8] ^= 1 << (bit % 8);
            match npz(&bad) {
                Ok(read) => assert_eq!(format!("{:?}", read.value), format!("{good:?}"), "bit {bit}"),
                Err(found) => assert!(found.iter().any(|d| d.is_error())),
            }
        }
    }

    #[test]
    fn an_array_that_is_cut_is_an_error() {
        for end in 0..MATRIX.len() {
            assert!(message(npy(&MATRIX[..end])).starts_with("E0771: a.npy: "));
        }
        for bit in 0..8 * MATRIX.len() {
            let mut bad = MATRIX.to_vec();
            bad[bit / 8] ^= 1 << (bit % 8);
            let _ = npy(&bad);
        }
    }

    #[test]
    fn headers_that_lie() {
        let says = |header: &str, data: &[u8]| message(npy(&array(header, data)));
        let of = |descr: &str, shape: &str| {
            format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}")
        };
        let needs = "an array of shape (3,) and 8 bytes an entry needs 24 bytes, found 16";
        assert_eq!(says(&of("'<f8'", "(3,)"), &[0; 16]), format!("E0771: a.npy: {needs}"));
        for shape in ["(10000000000,)", "(1, 1000000000)"] {
            assert!(says(&of("'<f8'", shape), &[0; 16]).contains("bytes, found 16"), "{shape}");
        }
        for shape in ["(18446744073709551615, 18446744073709551615)", "(4294967296, 4294967296)"] {
            assert!(says(&of("'<f8'", shape), &[0; 16]).contains("more bytes than there can be"), "{shape}");
        }
        for descr in
            ["'<U0'", "'|S0'", "'<f0'", "'<f1'", "'<f16'", "'<i3'", "'<U99999999999999999999'", "'<U-1'"]
        {
            assert!(says(&of(descr, "(3,)"), &[]).contains("found"), "{descr}");
        }
        assert!(says(&of("'|O'", "(1,)"), b"\x80\x04K\x01.").contains("Python objects"));
        assert!(says(&of("[('a', '<f8')]", "(1,)"), &[0; 8]).contains("records with named fields"));
        assert!(says(&of("'<U1'", "(2, 1)"), &[0; 8]).contains("texts of shape (2, 1), expected one axis"));
        assert!(says(&of("'<U1'", "(1,)"), &[0xff; 4]).contains("no Unicode"));
        assert!(says(&of("'<f8'", "(9, 0)"), &[]).contains("a matrix without columns"));
        assert!(says(&of("'<f8'", "(0,)"), &[]).starts_with("E0751"));
        let dictionary = "its header is no dictionary of descr, fortran_order and shape";
        for header in [
            "",
            "{}",
            "[]",
            "{'descr': '<f8'}",
            "{'descr': '<f8', 'fortran_order': 1, 'shape': (1,)}",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (1}",
            "{'descr': '<f8', 'descr': '<f8', 'shape': ()}",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}",
            "{'descr': [[[[",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (1,), 'more': 1}",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (1,)} 1",
            "{'descr': é, 'x'",
        ] {
            assert!(says(header, &[0; 8]).contains(dictionary), "{header}");
        }
        // any order, any quote, any space
        let odd = array("{ \"shape\":(2 ,) ,'fortran_order' :True,'descr': \"<f4\"}", &[0; 8]);
        assert_eq!(npy(&odd).unwrap().value.column("a"), Some(&Column::Numbers(vec![0.0, 0.0])));
        let mut version = array(&of("'<f8'", "(1,)"), &[0; 8]);
        version[6] = 4;
        assert!(message(npy(&version)).contains("version 4 of the NumPy format"));
        // a header of 4 GB
        assert!(message(npy(b"\x93NUMPY\x02\x00\xff\xff\xff\xff{'descr'")).contains("ends in its header"));
    }

    #[test]
    fn missing_tokens_and_the_budget_of_memory() {
        let options =
            ReadOptions { missing: super::super::number::Missing::with(&["4".into()]), ..Default::default() };
        let read = parse_npy(MATRIX, "a.npy", "a", &options).unwrap().value;
        let Some(Column::Matrix { values, .. }) = read.column("a") else { panic!() };
        assert!(values[9].is_nan() && values[8] == 1e-3);
        let small = ReadOptions { max_memory: 500, ..Default::default() };
        assert!(message(parse_npy(MATRIX, "a.npy", "a", &small)).starts_with("E0762"));
        assert!(message(parse_npz(PACKED, "a.npz", &small)).starts_with("E0762"));
    }
}

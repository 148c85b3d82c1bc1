//! NumPy arrays: a header that is a Python dictionary, then the bytes of the entries
//! (numpy.org/doc/stable/reference/generated/numpy.lib.format.html, versions 1 to 3).

use std::sync::Arc;

use sbl::data::Column;

use super::ReadOptions;

/// What an array file says about itself.
#[derive(Clone, PartialEq, Debug)]
struct Header {
    dtype: Dtype,
    /// Column-major.
    fortran: bool,
    shape: Vec<usize>,
    /// Where the entries start.
    data: usize,
}

/// The type of the entries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Dtype {
    kind: Kind,
    /// Bytes an entry, above 0.
    size: usize,
    big: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Float,
    Int,
    Unsigned,
    Bool,
    /// UCS-4.
    Text,
    /// Bytes of text, padded with zeros.
    Bytes,
}

/// Why an array is not read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fault {
    /// The file is not what its header says.
    Damaged(String),
    /// It is an array, and not data as they are read here.
    NotRead(String),
}

/// A column, and how many integers above 2^53 were rounded.
pub struct Array {
    /// Numbers, words, a matrix or a scalar.
    pub column: Column,
    /// How many integers lost digits.
    pub rounded: usize,
}

/// Reads one array. No axis: a scalar; one: a column; two: a matrix of numbers. `True` is 1.
pub fn read(bytes: &[u8], options: &ReadOptions) -> Result<Array, Fault> {
    let header = header(bytes)?;
    let Header { dtype, fortran, shape, data } = &header;
    let count = shape.iter().try_fold(1usize, |n, side| n.checked_mul(*side));
    let (expected, found) = (count.and_then(|n| n.checked_mul(dtype.size)), bytes.len() - data);
    if expected != Some(found) {
        let expected = expected.map_or("more bytes than there can be".to_owned(), |n| format!("{n} bytes"));
        return Err(Fault::Damaged(format!(
            "an array of shape {} and {} bytes an entry needs {expected}, found {found}",
            written(shape),
            dtype.size
        )));
    }
    let cells = bytes[*data..].chunks_exact(dtype.size);
    match (shape.as_slice(), dtype.kind) {
        ([_], Kind::Text | Kind::Bytes) => {
            let words = cells.map(|cell| word(cell, *dtype, options)).collect::<Result<_, _>>()?;
            Ok(Array { column: Column::Words(words), rounded: 0 })
        }
        (_, Kind::Text | Kind::Bytes) => {
            Err(Fault::NotRead(format!("texts of shape {}, expected one axis", written(shape))))
        }
        ([] | [_] | [_, _], _) => {
            let mut rounded = 0;
            let numbers = cells.map(|cell| number(cell, *dtype, options, &mut rounded)).collect();
            Ok(Array { column: shaped(numbers, shape, *fortran)?, rounded })
        }
        (_, _) => Err(Fault::NotRead(format!(
            "an array of shape {}, expected one axis (a column) or two (a matrix)",
            written(shape)
        ))),
    }
}

fn shaped(values: Vec<f64>, shape: &[usize], fortran: bool) -> Result<Column, Fault> {
    Ok(match shape {
        [] => Column::Scalar(values.first().copied().unwrap_or(f64::NAN)),
        [_, 0] => return Err(Fault::NotRead("a matrix without columns".to_owned())),
        [rows, width] if fortran => {
            let at = |i: usize| values[i / width + (i % width) * rows];
            Column::Matrix { values: (0..values.len()).map(at).collect(), width: *width, names: None }
        }
        [_, width] => Column::Matrix { values, width: *width, names: None },
        _ => Column::Numbers(values),
    })
}

fn number(cell: &[u8], dtype: Dtype, options: &ReadOptions, rounded: &mut usize) -> f64 {
    // the low bytes of an integer, sign-extended
    let mut low = [0u8; 8];
    for (to, from) in low.iter_mut().zip(0..cell.len()) {
        *to = cell[if dtype.big { cell.len() - 1 - from } else { from }];
    }
    let unsigned = u64::from_le_bytes(low);
    let shift = 64 - 8 * cell.len().min(8) as u32;
    let signed = ((unsigned << shift) as i64) >> shift;
    let value = match (dtype.kind, dtype.size) {
        (Kind::Float, 4) => f64::from(f32::from_bits(unsigned as u32)),
        (Kind::Float, _) => f64::from_bits(unsigned),
        (Kind::Int, _) => {
            *rounded += usize::from(signed as f64 as i128 != i128::from(signed));
            signed as f64
        }
        (Kind::Bool, _) => f64::from(u8::from(unsigned != 0)),
        _ => {
            *rounded += usize::from(unsigned as f64 as i128 != i128::from(unsigned));
            unsigned as f64
        }
    };
    if options.missing.is_number(value) { f64::NAN } else { value }
}

fn word(cell: &[u8], dtype: Dtype, options: &ReadOptions) -> Result<Option<Arc<str>>, Fault> {
    let text = match dtype.kind {
        Kind::Bytes => String::from_utf8(cell.to_vec()).ok(),
        _ => cell
            .chunks_exact(4)
            .map(|c| {
                let c = [c[0], c[1], c[2], c[3]];
                char::from_u32(if dtype.big { u32::from_be_bytes(c) } else { u32::from_le_bytes(c) })
            })
            .collect(),
    };
    let text = text.ok_or_else(|| Fault::Damaged("a text that is no Unicode".to_owned()))?;
    let text = text.trim_end_matches('\0').trim();
    Ok((!options.missing.is_word(text)).then(|| text.into()))
}

/// `(3, 4)`
fn written(shape: &[usize]) -> String {
    let sides: Vec<String> = shape.iter().map(usize::to_string).collect();
    match sides.as_slice() {
        [one] => format!("({one},)"),
        sides => format!("({})", sides.join(", ")),
    }
}

fn header(bytes: &[u8]) -> Result<Header, Fault> {
    let damaged = |what: &str| Fault::Damaged(what.to_owned());
    let rest =
        bytes.strip_prefix(b"\x93NUMPY").ok_or_else(|| damaged("it does not begin as a NumPy array does"))?;
    let cut = || damaged("it ends in its header");
    let (start, length) = match rest {
        [1, _, a, b, ..] => (10, usize::from(u16::from_le_bytes([*a, *b]))),
        [2 | 3, _, a, b, c, d, ..] => (12, u32::from_le_bytes([*a, *b, *c, *d]) as usize),
        [1..=3, ..] | [] => return Err(cut()),
        [version, ..] => {
            return Err(Fault::NotRead(format!("version {version} of the NumPy format, expected 1 to 3")));
        }
    };
    let data = start + length;
    let text = bytes.get(start..data).ok_or_else(cut)?;
    let text = std::str::from_utf8(text).map_err(|_| damaged("its header is not UTF-8"))?;
    let mut dictionary = Dictionary { rest: text.trim_end() };
    let Literal { descr, fortran, shape } = dictionary
        .read()
        .ok_or_else(|| damaged("its header is no dictionary of descr, fortran_order and shape"))?;
    let descr = descr.ok_or_else(|| {
        Fault::NotRead("records with named fields, expected one array for each column".to_owned())
    })?;
    Ok(Header { dtype: dtype(&descr)?, fortran, shape, data })
}

/// `<f8`, `|b1`, `<U5`
fn dtype(descr: &str) -> Result<Dtype, Fault> {
    let not_read = |what: &str| Fault::NotRead(format!("{what} (dtype {descr:?})"));
    let mut chars = descr.chars();
    let big = match chars.next() {
        Some('<' | '|' | '=') => false,
        Some('>') => true,
        _ => return Err(not_read("entries of an unknown type")),
    };
    let letter = chars.next().unwrap_or(' ');
    let size = chars.as_str().parse::<usize>().ok().filter(|n| (1..=1 << 20).contains(n));
    let (kind, sizes): (Kind, &[usize]) = match letter {
        'f' => (Kind::Float, &[4, 8]),
        'i' => (Kind::Int, &[1, 2, 4, 8]),
        'u' => (Kind::Unsigned, &[1, 2, 4, 8]),
        'b' => (Kind::Bool, &[1]),
        'U' => (Kind::Text, &[]),
        'S' => (Kind::Bytes, &[]),
        'O' => return Err(not_read("Python objects, which only Python can unpickle")),
        'c' => return Err(not_read("complex numbers")),
        'M' | 'm' => return Err(not_read("dates or times, expected numbers")),
        'V' => return Err(not_read("records without a type")),
        _ => return Err(not_read("entries of an unknown type")),
    };
    match size {
        Some(size) if sizes.is_empty() => {
            Ok(Dtype { kind, size: if kind == Kind::Text { 4 * size } else { size }, big })
        }
        Some(size) if sizes.contains(&size) => Ok(Dtype { kind, size, big }),
        _ => Err(not_read("numbers of a size that is not read, expected 4 or 8 bytes")),
    }
}

/// `{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }`, as Python writes it.
struct Dictionary<'a> {
    rest: &'a str,
}

/// What is in it; no `descr` if the entries are records.
struct Literal {
    descr: Option<String>,
    fortran: bool,
    shape: Vec<usize>,
}

impl Dictionary<'_> {
    /// Every key once, and nothing else.
    fn read(&mut self) -> Option<Literal> {
        let (mut descr, mut fortran, mut shape) = (None, None, None);
        self.take("{")?;
        while self.take("}").is_none() {
            let key = self.quoted()?;
            self.take(":")?;
            let new = match key.as_str() {
                "descr" if self.peek() == Some('[') => {
                    self.skip_list()?;
                    descr.replace(None).is_none()
                }
                "descr" => descr.replace(Some(self.quoted()?)).is_none(),
                "fortran_order" => {
                    let value = if self.take("True").is_some() {
                        true
                    } else {
                        self.take("False").map(|()| false)?
                    };
                    fortran.replace(value).is_none()
                }
                "shape" => shape.replace(self.tuple()?).is_none(),
                _ => false,
            };
            if !new || (self.take(",").is_none() && self.peek() != Some('}')) {
                return None;
            }
        }
        let end = self.rest.trim().is_empty();
        Some(Literal { descr: descr?, fortran: fortran?, shape: shape? }).filter(|_| end)
    }

    fn peek(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start();
        self.rest.chars().next()
    }

    fn take(&mut self, token: &str) -> Option<()> {
        self.rest = self.rest.trim_start().strip_prefix(token).or_else(|| {
            self.rest = self.rest.trim_start();
            None
        })?;
        Some(())
    }

    fn quoted(&mut self) -> Option<String> {
        let quote = self.peek().filter(|c| matches!(c, '\'' | '"'))?;
        let (text, rest) = self.rest.get(1..)?.split_once(quote)?;
        self.rest = rest;
        Some(text.to_owned())
    }

    fn tuple(&mut self) -> Option<Vec<usize>> {
        let mut sides = Vec::new();
        self.take("(")?;
        while self.take(")").is_none() {
            self.peek();
            let digits = self.rest.bytes().take_while(u8::is_ascii_digit).count();
            sides.push(self.rest.get(..digits)?.parse().ok()?);
            self.rest = self.rest.get(digits..)?;
            if (self.take(",").is_none() && self.peek() != Some(')')) || sides.len() > 32 {
                return None;
            }
        }
        Some(sides)
    }

    /// To the bracket that closes this one.
    fn skip_list(&mut self) -> Option<()> {
        let mut depth = 0usize;
        for (i, c) in self.rest.char_indices() {
            match c {
                '[' => depth += 1,
                ']' if depth == 1 => {
                    self.rest = self.rest.get(i + 1..)?;
                    return Some(());
                }
                ']' => depth -= 1,
                _ => {}
            }
        }
        None
    }
}

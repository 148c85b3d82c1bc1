//! Records of delimited text, as in RFC 4180, with the line on which each starts.
//!
//! Written here because a blank line must be seen (in a file of one column it may be a missing
//! value) and an unterminated quote must be an error; general readers skip the one and accept the
//! other.

use std::borrow::Cow;

/// Iterates over records; newlines are LF, CRLF or CR.
#[derive(Clone, Debug)]
pub struct Records<'a> {
    text: &'a str,
    at: usize,
    line: u64,
    delimiter: u8,
}

/// Where a record starts and whether there is anything on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// Line of the file, from 1.
    pub line: u64,
    /// Nothing but white space before the end of the line.
    pub blank: bool,
}

/// Text that is not delimited text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// The quote opened on this line is never closed.
    Unterminated(u64),
    /// Something follows a closing quote on this line.
    AfterQuote(u64, char),
}

impl<'a> Records<'a> {
    /// The records of `text`.
    pub fn new(text: &'a str, delimiter: u8) -> Self {
        Self { text, at: 0, line: 1, delimiter }
    }

    /// Reads the next record into `fields`. Cells are trimmed unless quoted. `None` at the end.
    pub fn read(&mut self, fields: &mut Vec<Cow<'a, str>>) -> Option<Result<Place, Fault>> {
        fields.clear();
        if self.at >= self.text.len() {
            return None;
        }
        let (start, line) = (self.at, self.line);
        loop {
            match self.field() {
                Ok(field) => fields.push(field),
                Err(fault) => {
                    self.at = self.text.len();
                    return Some(Err(fault));
                }
            }
            if self.peek() == Some(self.delimiter) {
                self.at += 1;
                continue;
            }
            let blank = fields.len() == 1 && self.text[start..self.at].trim().is_empty();
            self.newline();
            return Some(Ok(Place { line, blank }));
        }
    }

    /// One cell; stops at a delimiter, a newline or the end.
    fn field(&mut self) -> Result<Cow<'a, str>, Fault> {
        let start = self.at;
        let delimiter = self.delimiter;
        self.skip(|b| b != delimiter && (b == b' ' || b == b'\t'));
        if self.peek() == Some(b'"') {
            return self.quoted();
        }
        self.skip(|b| b != delimiter && b != b'\n' && b != b'\r');
        Ok(Cow::Borrowed(self.text[start..self.at].trim()))
    }

    fn quoted(&mut self) -> Result<Cow<'a, str>, Fault> {
        let opened = self.line;
        self.at += 1;
        let mut value: Cow<'a, str> = Cow::Borrowed("");
        loop {
            let start = self.at;
            self.skip(|b| b != b'"' && b != b'\n' && b != b'\r');
            append(&mut value, &self.text[start..self.at]);
            match self.peek() {
                None => return Err(Fault::Unterminated(opened)),
                Some(b'"') => {
                    self.at += 1;
                    if self.peek() != Some(b'"') {
                        break;
                    }
                    self.at += 1;
                    append(&mut value, "\"");
                }
                Some(_) => {
                    self.newline();
                    append(&mut value, "\n");
                }
            }
        }
        let delimiter = self.delimiter;
        self.skip(|b| b != delimiter && (b == b' ' || b == b'\t'));
        match self.text[self.at..].chars().next() {
            Some(c) if c != '\n' && c != '\r' && u32::from(c) != u32::from(delimiter) => {
                Err(Fault::AfterQuote(self.line, c))
            }
            _ => Ok(value),
        }
    }

    /// Steps over one newline, if there is one.
    fn newline(&mut self) {
        match self.peek() {
            Some(b'\r') => {
                self.at += 1;
                if self.peek() == Some(b'\n') {
                    self.at += 1;
                }
                self.line += 1;
            }
            Some(b'\n') => {
                self.at += 1;
                self.line += 1;
            }
            _ => {}
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Steps over bytes while they pass; every byte that stops it is ASCII, so `at` stays on a
    /// character boundary.
    fn skip(&mut self, pass: impl Fn(u8) -> bool) {
        let rest = &self.text.as_bytes()[self.at..];
        self.at += rest.iter().position(|&b| !pass(b)).unwrap_or(rest.len());
    }
}

fn append<'a>(value: &mut Cow<'a, str>, more: &'a str) {
    if value.is_empty() {
        *value = Cow::Borrowed(more);
    } else if !more.is_empty() {
        value.to_mut().push_str(more);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str, delimiter: u8) -> Result<Vec<(u64, Vec<String>)>, Fault> {
        let mut records = Records::new(text, delimiter);
        let mut fields = Vec::new();
        let mut out = Vec::new();
        while let Some(record) = records.read(&mut fields) {
            let place = record?;
            let shown = fields.iter().map(|f| f.to_string()).collect();
            out.push((place.line, if place.blank { vec!["(blank)".to_owned()] } else { shown }));
        }
        Ok(out)
    }

    fn row(line: u64, cells: &[&str]) -> (u64, Vec<String>) {
        (line, cells.iter().map(|c| (*c).to_owned()).collect())
    }

    #[test]
    fn newlines_quotes_and_blanks() {
        let expected = vec![row(1, &["a", "b"]), row(2, &["1", "2"])];
        for text in ["a,b\n1,2\n", "a,b\r\n1,2\r\n", "a,b\r1,2\r", "a,b\n1,2", " a , b\n1 ,\"2\""] {
            assert_eq!(all(text, b',').unwrap(), expected, "{text:?}");
        }
        assert_eq!(
            all("\"x, \"\"y\"\"\",\"two\r\nlines\"\n3,4\n", b',').unwrap(),
            vec![row(1, &["x, \"y\"", "two\nlines"]), row(3, &["3", "4"])]
        );
        assert_eq!(
            all("a\n\n1\n  \n", b',').unwrap(),
            vec![row(1, &["a"]), row(2, &["(blank)"]), row(3, &["1"]), row(4, &["(blank)"])]
        );
        assert_eq!(all("a\n\"\"\n", b',').unwrap()[1], row(2, &[""]));
        assert_eq!(all("a\t b\t\n", b'\t').unwrap(), vec![row(1, &["a", "b", ""])]);
        assert_eq!(all(",\n", b',').unwrap(), vec![row(1, &["", ""])]);
        assert_eq!(all("5\" pipe,é\n", b',').unwrap(), vec![row(1, &["5\" pipe", "é"])]);
        assert_eq!(all("", b',').unwrap(), vec![]);
    }

    #[test]
    fn faults() {
        assert_eq!(all("a\n\"b\nc\n", b','), Err(Fault::Unterminated(2)));
        assert_eq!(all("a\n\"b\"é\n", b','), Err(Fault::AfterQuote(2, 'é')));
        assert_eq!(all("\"", b','), Err(Fault::Unterminated(1)));
    }
}

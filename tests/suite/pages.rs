//! Pages that are generated from the code are current. `UPDATE_DOCS=1 cargo test` writes them.

use sbl::dist::{FAMILIES, page::page};

const FAMILIES_HEAD: &str = "\
# Families

What may stand on the right of `~`. Arguments without `=` may be given by position; scale arguments are
always named, so that a precision is never mistaken for a deviation. An argument is a number, or has the
shape of the node. Generated from the records in `src/dist/`.

";

fn assert_current(file: &str, text: &str) {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default().replace("\r\n", "\n");
    assert!(found == text, "{file} is not what the code says: run UPDATE_DOCS=1 cargo test");
}

#[test]
fn families() {
    let pages: Vec<String> = FAMILIES.iter().map(|f| page(f)).collect();
    assert_current("docs/families.md", &(FAMILIES_HEAD.to_owned() + &pages.join("\n")));
}

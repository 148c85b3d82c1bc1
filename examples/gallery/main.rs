//! Writes the gallery and the pictures of the README again: `cargo run --example gallery`.
//!
//! A test checks that they are current.

mod pages;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    for (file, content) in pages::all()? {
        let path = root.join(&file);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(&path, content)?;
        println!("{file}");
    }
    Ok(())
}

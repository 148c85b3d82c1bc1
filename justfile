# The commands of a working day; `just` alone lists them.

_list:
    @just --list

# Everything that must hold: exactly what continuous integration runs.
check:
    .ci/run

# All tests, or those whose name contains FILTER.
test *FILTER:
    cargo test {{FILTER}}

# The layout of code, and of every program.
fmt:
    cargo fmt
    cargo run --quiet -- fmt examples/*.sbl stdlib/*.sbl

# Lints, as errors.
lint:
    cargo clippy --all-targets -- -D warnings

# The documentation of the library, in a browser.
doc:
    cargo doc --no-deps --open

# Rewrites the pages that are generated from the code (docs/reference/), and snapshots.
update:
    UPDATE_DOCS=1 INSTA_UPDATE=always cargo test

# Writes the gallery and the pictures of the README again.
gallery:
    cargo run --quiet --example gallery

# Writes the generated example data again.
data:
    python3 examples/data/generate.py

# Licences and advisories of dependencies (needs cargo-deny).
deny:
    cargo deny check

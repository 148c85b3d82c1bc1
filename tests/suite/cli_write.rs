//! Outputs are written whole or not at all.

use super::cli_run::Place;

const DATA: &str = "x,t\n1,1.5\n2,2.5\n4,3\n";

fn new(place: &Place, output: &str) -> super::cli_run::Ran {
    place.run(&["new", "--data", "a.csv", "--target", "t", "-o", output])
}

#[test]
fn a_file_is_written_and_nothing_else() {
    let place = Place::new();
    place.file("a.csv", DATA);
    let ran = new(&place, "m.sbl").exits(0);
    assert!(ran.out.is_empty() && ran.err.contains("wrote m.sbl"), "{ran:?}");
    assert!(place.text("m.sbl").contains("model a {"));
    assert_eq!(place.names(), ["a.csv", "m.sbl"]);
    let printed = new(&place, "-").exits(0).out;
    assert_eq!(printed, place.text("m.sbl"));
}

#[test]
fn a_starter_model_replaces_nothing() {
    let place = Place::new();
    place.file("a.csv", DATA).file("m.sbl", "mine");
    let ran = new(&place, "m.sbl").exits(4);
    assert!(ran.err.contains("error[E0770]: cannot write m.sbl: it exists already"), "{}", ran.err);
    assert_eq!(place.text("m.sbl"), "mine");
}

#[test]
fn leftovers_of_killed_runs_are_removed() {
    let place = Place::new();
    place
        .file("a.csv", DATA)
        .file(".m.sbl.tmp-999999999", "half")
        .file(".m.sbl.tmp-1", "alive")
        .file(".x.tmp-2", "");
    new(&place, "m.sbl").exits(0);
    let mut left = vec![".x.tmp-2", "a.csv", "m.sbl"];
    if cfg!(target_os = "linux") {
        left.insert(0, ".m.sbl.tmp-1");
        assert_eq!(place.names(), left);
    }
}

#[test]
fn unwritable_places_exit_with_4() {
    let place = Place::new();
    place.file("a.csv", DATA);
    assert!(new(&place, "none/m.sbl").exits(4).err.contains("cannot write none/m.sbl: no such file"));
    std::fs::create_dir(place.path("folder")).unwrap();
    assert!(new(&place, "folder").exits(4).err.contains("is a directory"));
    #[cfg(target_os = "linux")]
    assert!(new(&place, "/dev/full").exits(4).err.contains("no space left"));
    assert_eq!(place.names(), ["a.csv", "folder"]);
}

#[cfg(unix)]
#[test]
fn devices_are_written_to_directly() {
    let place = Place::new();
    place.file("a.csv", DATA);
    new(&place, "/dev/null").exits(0);
    let printed = new(&place, "/dev/stdout").exits(0).out;
    assert!(printed.contains("model a {"));
}

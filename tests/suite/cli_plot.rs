//! `sbl plot`: files, the terminal, what it refuses.

use super::cli_run::Place;
use super::pictures::assert_well_formed;

const LINE: &str = "model line {\n    data x: real[N]\n    data t: real[N]\n    mu ~ Flat()\n    tau ~ Gamma(0, 0)\n    \
                    w ~ Normal(0, precision = 1)\n    t ~ Normal(mu + x .* w, precision = tau)\n}\n";

fn fitted() -> Place {
    let place = Place::new();
    let mut data = String::from("x,t\n");
    for i in 0..20 {
        let x = f64::from(i) / 4.0;
        data += &format!("{x},{}\n", 1.0 + 2.0 * x + 0.3 * (37.0 * x).sin());
    }
    place.file("m.sbl", LINE).file("d.csv", data);
    place.run(&["fit", "m.sbl", "--data", "d.csv", "-o", "m.sblfit"]).exits(0);
    place
}

#[test]
fn files_of_both_formats() {
    let place = fitted();
    let ran = place.run(&["plot", "m.sblfit", "--data", "d.csv", "-o", "a.svg"]).exits(0);
    assert_eq!((ran.out.as_str(), ran.err.as_str()), ("", ""));
    assert_well_formed(&place.text("a.svg"));
    assert!(place.text("a.svg").contains("width=\"580\" height=\"420\""));
    place.run(&["plot", "m.sblfit", "-o", "b.png", "--width", "300", "--height", "200"]).exits(0);
    let png = std::fs::read(place.path("b.png")).unwrap();
    // signature, then width and height of the header
    assert_eq!(&png[..8], b"\x89PNG\r\n\x1a\n");
    assert_eq!((&png[16..20], &png[20..24]), (&600u32.to_be_bytes()[..], &400u32.to_be_bytes()[..]));
    place
        .run(&["plot", "m.sblfit", "-o", "c.PNG", "--width", "300", "--height", "200", "--scale", "1"])
        .exits(0);
    assert_eq!(&std::fs::read(place.path("c.PNG")).unwrap()[16..20], &300u32.to_be_bytes());
    let ran = place.run(&["plot", "m.sblfit", "-o", "-"]).exits(0);
    assert_well_formed(&ran.out);
    // the same twice
    assert_eq!(place.run(&["plot", "m.sblfit", "-o", "-"]).exits(0).out, ran.out);
}

#[test]
fn without_a_file_it_draws_in_the_terminal() {
    let place = fitted();
    let ran = place.run(&["plot", "m.sblfit", "--data", "d.csv"]).exits(0);
    assert!(ran.out.starts_with("line: t against x\n") && ran.out.lines().count() <= 24, "{}", ran.out);
    assert!(ran.out.contains('•') && ran.out.contains('└') && !ran.out.contains('\u{1b}'));
    let coloured = place.run(&["plot", "m.sblfit", "--color", "always"]).exits(0);
    assert!(coloured.out.contains("\u{1b}[38;2;"));
    let mut plain = place.command(&["plot", "m.sblfit", "--data", "d.csv"]);
    let plain = super::cli_run::ran(plain.env("LANG", "C").output().unwrap()).exits(0);
    assert!(plain.out.is_ascii(), "{}", plain.out);
}

#[test]
fn programs_show_their_graph() {
    let place = fitted();
    let drawn = place.run(&["plot", "m.sbl", "-o", "-"]).exits(0).out;
    assert_eq!(drawn, place.run(&["graph", "m.sbl", "--format", "svg"]).exits(0).out);
    assert_eq!(drawn, place.run(&["plot", "m.sblfit", "--kind", "graph", "-o", "-"]).exits(0).out);
    let ran = place.run(&["plot", "m.sbl", "--kind", "weights"]).exits(1);
    assert!(ran.err.contains("E0768") && ran.err.contains("sbl fit"), "{}", ran.err);
}

#[test]
fn what_cannot_be_drawn_says_what_to_do() {
    let place = fitted();
    let ran = place.run(&["plot", "m.sblfit", "--kind", "calibration"]).exits(1);
    assert!(ran.err.contains("E0850") && ran.err.contains("--data FILE"), "{}", ran.err);
    let ran = place.run(&["plot", "m.sblfit", "--kind", "classes"]).exits(1);
    assert!(ran.err.contains("E0851") && ran.err.contains("--kind fit"), "{}", ran.err);
    let ran = place.run(&["plot", "m.sblfit", "-o", "a.pdf"]).exits(1);
    assert!(ran.err.contains("E0769") && ran.err.contains(".svg"), "{}", ran.err);
    let ran = place.run(&["plot", "m.sblfit", "--set", "a=1"]).exits(1);
    assert!(ran.err.contains("E0768"), "{}", ran.err);
    let ran = place.run(&["plot", "m.sblfit", "--kind", "weigths"]).exits(2);
    assert!(ran.err.contains("did you mean `weights`?"), "{}", ran.err);
    for wrong in [["--width", "7"], ["--height", "nan"], ["--scale", "100"]] {
        place.run(&["plot", "m.sblfit", wrong[0], wrong[1]]).exits(2);
    }
    place.run(&["plot", "m.sblfit", "-o", "no/such/place/a.svg"]).exits(4);
    let large = ["plot", "m.sblfit", "-o", "a.png", "--width", "8000", "--height", "8000"];
    assert!(place.run(&large).exits(1).err.contains("E0769"));
}

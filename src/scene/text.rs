//! How wide a text is, before anyone has a font: the widths of a common sans serif, a little generous.

/// Widths of the characters from space to tilde, in thousandths of the size of the font.
const ASCII: [u16; 95] = [
    250, 300, 420, 560, 556, 860, 680, 240, 340, 340, 450, 580, 278, 340, 278, 400, 556, 556, 556, 556, 556,
    556, 556, 556, 556, 556, 278, 278, 580, 580, 580, 500, 950, 640, 640, 640, 690, 590, 560, 700, 720, 280,
    500, 640, 540, 830, 720, 740, 620, 740, 640, 600, 600, 710, 640, 900, 620, 600, 600, 340, 400, 340, 500,
    500, 500, 556, 570, 500, 570, 540, 320, 560, 560, 256, 256, 520, 270, 840, 560, 570, 570, 570, 370, 470,
    360, 560, 510, 760, 500, 510, 460, 340, 260, 340, 580,
];

/// Width of a text in pixels at a size in pixels.
pub fn width(text: &str, size: f64) -> f64 {
    let thousandths: u64 = text.chars().map(|c| u64::from(advance(c))).sum();
    thousandths as f64 * size / 1000.0
}

/// The text, cut to a width with an ellipsis.
pub fn fitted(text: &str, size: f64, room: f64) -> String {
    if width(text, size) <= room {
        return text.to_owned();
    }
    let mut cut = String::new();
    for c in text.chars() {
        cut.push(c);
        if width(&cut, size) + width("…", size) > room {
            cut.pop();
            break;
        }
    }
    cut.push('…');
    cut
}

/// The text in lines that are no wider than `room`, broken at spaces.
pub fn wrapped(text: &str, size: f64, room: f64) -> Vec<String> {
    broken(text, &|line| width(line, size) <= room)
}

/// The text in lines of so many characters, broken at spaces; a word that is longer is cut.
pub fn wrapped_at(text: &str, columns: usize) -> Vec<String> {
    let lines = broken(text, &|line| line.chars().count() <= columns);
    lines.into_iter().map(|l| clipped(&l, columns)).collect()
}

/// At most so many characters.
pub fn clipped(text: &str, columns: usize) -> String {
    if text.chars().count() <= columns {
        return text.to_owned();
    }
    let mut cut: String = text.chars().take(columns.saturating_sub(1)).collect();
    if columns > 0 {
        cut.push('…');
    }
    cut
}

fn broken(text: &str, fits: &dyn Fn(&str) -> bool) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split([' ', '\n', '\t']).filter(|w| !w.is_empty()) {
        match lines.last_mut() {
            Some(line) if fits(&format!("{line} {word}")) => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

fn advance(c: char) -> u16 {
    match u32::from(c) {
        code @ 0x20..=0x7e => ASCII[code as usize - 0x20],
        // as wide as high
        0x2014 | 0x2026 | 0x2190..=0x2193 => 1000,
        // superscripts, often of another font than the rest; then what takes no room
        0xb2 | 0xb3 | 0xb9 | 0x2070..=0x208e => 560,
        0x300..=0x36f | 0x200b..=0x200f => 0,
        // two columns wide in any font
        0x1100..=0x115f
        | 0x2e80..=0xa4cf
        | 0xac00..=0xd7a3
        | 0xf900..=0xfaff
        | 0xfe30..=0xfe6f
        | 0xff00..=0xff60
        | 0x1f300..=0x1faff
        | 0x20000..=0x3fffd => 1000,
        _ => 600,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wider_texts_are_wider() {
        assert!(width("iii", 12.0) < width("mmm", 12.0));
        assert_eq!(width("", 12.0), 0.0);
        assert_eq!(width("日本", 10.0), 20.0);
    }

    #[test]
    fn texts_fit_their_room() {
        let long = "a rather long label of a column (mmol/l)";
        assert!(width(&fitted(long, 12.0, 90.0), 12.0) <= 90.0);
        assert_eq!(fitted("short", 12.0, 90.0), "short");
        assert!(wrapped(long, 12.0, 90.0).iter().all(|l| width(l, 12.0) <= 90.0));
        assert_eq!(wrapped_at("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped_at("extraordinary", 5), ["extr…"]);
    }
}

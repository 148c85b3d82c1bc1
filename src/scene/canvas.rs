//! A page of characters: braille dots for lines, shades for areas, letters for marks.

use super::Colour;

/// Characters with colours; a dot is a quarter of a row high and half a column wide.
pub(crate) struct Canvas {
    columns: usize,
    rows: usize,
    cells: Vec<Cell>,
}

#[derive(Clone, Copy, Default)]
struct Cell {
    /// The character that stands here, if one does.
    letter: Option<char>,
    /// Which of the eight dots are set.
    dots: u8,
    /// 0 … 3: nothing, `░`, `▒`, `▓`.
    shade: u8,
    colour: Option<Colour>,
    shade_colour: Option<Colour>,
}

impl Canvas {
    pub fn new(columns: usize, rows: usize) -> Canvas {
        Canvas { columns, rows, cells: vec![Cell::default(); columns * rows] }
    }

    fn cell(&mut self, column: usize, row: usize) -> Option<&mut Cell> {
        if column < self.columns { self.cells.get_mut(row * self.columns + column) } else { None }
    }

    /// Sets a dot; what is outside is left out.
    pub fn dot(&mut self, x: f64, y: f64, colour: Colour) {
        // Unicode numbers the dots of a column 1, 2, 3, 7 and 4, 5, 6, 8
        const BITS: [[u8; 4]; 2] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]];
        let (x, y) = (x.floor(), y.floor());
        if !(x >= 0.0 && y >= 0.0) {
            return;
        }
        let (x, y) = (x as usize, y as usize);
        if let Some(cell) = self.cell(x / 2, y / 4) {
            cell.dots |= BITS[x % 2][y % 4];
            cell.colour = Some(colour);
        }
    }

    /// A line in dots; `on` of each `on + off` dots are drawn.
    pub fn line(&mut self, p: (f64, f64), q: (f64, f64), (on, off): (usize, usize), colour: Colour) {
        let steps = (q.0 - p.0).abs().max((q.1 - p.1).abs()).ceil().min(10_000.0) as usize;
        for i in 0..=steps {
            if i % (on + off) < on {
                let t = i as f64 / steps.max(1) as f64;
                self.dot(p.0 + t * (q.0 - p.0), p.1 + t * (q.1 - p.1), colour);
            }
        }
    }

    /// Shades a character.
    pub fn shade(&mut self, column: usize, row: usize, shade: u8, colour: Colour) {
        if let Some(cell) = self.cell(column, row) {
            cell.shade = shade.min(3);
            cell.shade_colour = Some(colour);
        }
    }

    /// Puts a character.
    pub fn letter(&mut self, column: usize, row: usize, letter: char, colour: Option<Colour>) {
        if let Some(cell) = self.cell(column, row) {
            cell.letter = Some(letter);
            cell.colour = colour;
        }
    }

    /// Whether a character stands there.
    pub fn has_letter(&self, column: usize, row: usize) -> bool {
        column < self.columns
            && self.cells.get(row * self.columns + column).is_some_and(|c| c.letter.is_some())
    }

    /// Puts a text that begins at a column; what does not fit is left out.
    pub fn text(&mut self, column: usize, row: usize, text: &str) {
        for (i, c) in text.chars().enumerate() {
            self.letter(column + i, row, c, None);
        }
    }

    /// The page, a line a row, without blanks at their ends.
    pub fn lines(&self, colour: bool) -> Vec<String> {
        (0..self.rows)
            .map(|r| self.line_of(&self.cells[r * self.columns..(r + 1) * self.columns], colour))
            .collect()
    }

    fn line_of(&self, cells: &[Cell], colour: bool) -> String {
        let mut line = String::new();
        let mut now: Option<Colour> = None;
        let used = cells.iter().rposition(|c| c.letter.is_some() || c.dots != 0 || c.shade != 0);
        for cell in &cells[..used.map_or(0, |u| u + 1)] {
            let (c, paint) = match (cell.letter, cell.dots, cell.shade) {
                (Some(letter), _, _) => (letter, cell.colour),
                (None, 0, 0) => (' ', now),
                (None, 0, shade) => (['░', '▒', '▓'][usize::from(shade) - 1], cell.shade_colour),
                (None, dots, _) => (char::from_u32(0x2800 + u32::from(dots)).unwrap_or('.'), cell.colour),
            };
            if colour && paint != now {
                match paint {
                    Some(Colour(r, g, b)) => line.push_str(&format!("\u{1b}[38;2;{r};{g};{b}m")),
                    None => line.push_str("\u{1b}[0m"),
                }
                now = paint;
            }
            line.push(c);
        }
        if now.is_some() {
            line.push_str("\u{1b}[0m");
        }
        line
    }
}

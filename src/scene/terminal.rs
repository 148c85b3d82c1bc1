//! Figures as text: braille dots for curves, shades for bands, a letter for each point.

use super::arrange::{share, tick_list};
use super::canvas::Canvas;
use super::clip::Window;
use super::figure::{Figure, Panel, Shape};
use super::text::{clipped, wrapped_at};
use super::{Colour, Dash};

/// The least room for a panel, texts included.
const LEAST: (usize, usize) = (28, 9);

/// The figure in at most so many columns and rows, each line ended by a newline; what does not fit is left
/// out, and said so.
pub fn terminal(figure: &Figure, columns: usize, rows: usize, colour: bool) -> String {
    if columns == 0 || rows == 0 {
        return String::new();
    }
    let mut head: Vec<String> = wrapped_at(&safe(&figure.title), columns).into_iter().take(1).collect();
    let caption = wrapped_at(&safe(&figure.caption), columns);
    // a caption that would leave no room for the picture is cut
    let room = rows.saturating_sub(head.len() + LEAST.1 + 3);
    let mut foot: Vec<String> = caption.iter().take(room).cloned().collect();
    if let (true, Some(last)) = (foot.len() < caption.len(), foot.last_mut()) {
        *last = clipped(&format!("{last} …"), columns);
    }
    let body = rows.saturating_sub(head.len() + foot.len());
    let across = figure.columns.min(columns / LEAST.0).clamp(1, figure.panels.len().max(1));
    let wanted = figure.panels.len().div_ceil(across).max(1);
    let mut down = wanted.min(body / LEAST.1).max(1);
    let mut rest = figure.panels.len().saturating_sub(across * down);
    let note = rest > 0 && body > LEAST.1;
    if note {
        down = wanted.min((body - 1) / LEAST.1).max(1);
        rest = figure.panels.len().saturating_sub(across * down);
        foot.insert(0, clipped(&format!("({rest} more panels: more rows, or a file, show them)"), columns));
    }
    let body = rows.saturating_sub(head.len() + foot.len());
    let (w, h) = (columns / across, (body / down).min(28));
    for row in figure.panels.chunks(across).take(down) {
        let drawn: Vec<Vec<Cells>> = row.iter().map(|p| panel(p, w.saturating_sub(1), h, colour)).collect();
        for r in 0..h {
            let mut line = String::new();
            let mut at = 0;
            for (i, lines) in drawn.iter().enumerate() {
                let Some(cells) = lines.get(r) else { continue };
                line.push_str(&" ".repeat((i * w).saturating_sub(at)));
                line.push_str(&cells.text);
                at = (i * w).max(at) + cells.width;
            }
            head.push(line);
        }
    }
    head.extend(foot);
    head.truncate(rows);
    head.iter().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// A line with the number of columns it takes.
struct Cells {
    text: String,
    width: usize,
}

impl From<String> for Cells {
    fn from(text: String) -> Cells {
        let width = text.chars().count();
        Cells { text, width }
    }
}

/// Names come from files: what drives a terminal is replaced.
fn safe(text: &str) -> String {
    let odd = |c: char| c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    text.chars().map(|c| if odd(c) { '\u{fffd}' } else { c }).collect()
}

/// One panel in exactly `rows` lines of at most `columns` characters.
fn panel(panel: &Panel, columns: usize, rows: usize, colour: bool) -> Vec<Cells> {
    let mut lines: Vec<Cells> = Vec::new();
    let mut title = safe(&panel.title);
    if !panel.y.label.is_empty() {
        title = if title.is_empty() {
            safe(&panel.y.label)
        } else {
            format!("{title}   ↑ {}", safe(&panel.y.label))
        };
    }
    if !title.is_empty() {
        lines.push(clipped(&title, columns).into());
    }
    lines.extend(wrapped_at(&legend(panel), columns).into_iter().take(2).map(Cells::from));
    let limits = panel.limits();
    let below = 2;
    let height = rows.saturating_sub(lines.len() + below).max(1);
    let names = panel.y.names.is_some();
    let y_ticks = tick_list(&panel.y, limits[1], if names { usize::MAX } else { height / 3 });
    let margin = panel.layers.iter().filter_map(|l| match &l.shape {
        Shape::Margin { text, .. } => Some(text.chars().count() + 1),
        _ => None,
    });
    let right = margin.max().unwrap_or(0).min(columns / 4);
    let widest = y_ticks.iter().map(|(_, t)| t.chars().count()).max().unwrap_or(0).min(columns / 3);
    let width = columns.saturating_sub(widest + 1 + right).max(1);
    let mut canvas = Canvas::new(widest + 1 + width + right, height + below);

    let scale = |axis: usize, v: f64| share([panel.x.scale, panel.y.scale][axis], limits[axis], v);
    let column = |v: f64| widest as f64 + 1.0 + scale(0, v) * (width as f64 - 0.51);
    let row = |v: f64| (1.0 - scale(1, v)) * (height as f64 - 0.26);
    for layer in &panel.layers {
        draw(&layer.shape, &mut canvas, &column, &row, widest + 1, width, height);
    }
    let mut last = f64::INFINITY;
    for (value, text) in &y_ticks {
        let r = row(*value).floor();
        if !(r >= 0.0 && r < height as f64) || (last - r).abs() < 1.0 {
            continue;
        }
        last = r;
        let text = clipped(&safe(text), widest);
        canvas.text(widest - text.chars().count(), r as usize, &text);
        canvas.letter(widest, r as usize, '┤', None);
    }
    for r in 0..height {
        if !canvas.has_letter(widest, r) {
            canvas.letter(widest, r, '│', None);
        }
    }
    canvas.letter(widest, height, '└', None);
    (0..width).for_each(|c| canvas.letter(widest + 1 + c, height, '─', None));
    let mut free = 0;
    for (value, text) in tick_list(&panel.x, limits[0], width / 12) {
        let c = column(value).floor();
        if !(c >= 0.0 && c < (widest + 1 + width) as f64) {
            continue;
        }
        canvas.letter(c as usize, height, '┬', None);
        let text = safe(&text);
        let long = text.chars().count();
        let start = (c as usize).saturating_sub(long / 2).min((widest + 1 + width).saturating_sub(long));
        if start >= free {
            canvas.text(start, height + 1, &text);
            free = start + long + 1;
        }
    }
    // the label of x stands behind the last number
    let label = safe(&panel.x.label);
    let room = (widest + 1 + width + right).saturating_sub(free + 1);
    if !label.is_empty() && room > 3 {
        canvas.text(free + 1, height + 1, &clipped(&label, room));
    }
    for layer in &panel.layers {
        if let Shape::Margin { at, text } = &layer.shape {
            let r = row(*at).floor();
            if r >= 0.0 && r < height as f64 {
                canvas.text(widest + 2 + width, r as usize, &clipped(&safe(text), right.saturating_sub(1)));
            }
        }
    }
    let plain = canvas.lines(false);
    let shown = canvas.lines(colour);
    lines.extend(shown.into_iter().zip(plain).map(|(text, p)| Cells { text, width: p.chars().count() }));
    lines.truncate(rows);
    lines
}

fn legend(panel: &Panel) -> String {
    let mut seen: Vec<&str> = Vec::new();
    let mut parts = Vec::new();
    for layer in &panel.layers {
        let Some(name) = layer.name.as_deref().filter(|n| !seen.contains(n)) else { continue };
        seen.push(name);
        let sign = match &layer.shape {
            Shape::Band { shade, .. } | Shape::Region { shade, .. } => shade_letter(*shade).to_string(),
            Shape::Bars { .. } => "▒".to_owned(),
            Shape::Points { marker, .. } => marker.form.letter().to_string(),
            Shape::Line { stroke, .. }
            | Shape::Whiskers { stroke, .. }
            | Shape::Rule { stroke, .. }
            | Shape::Contour { stroke, .. } => match stroke.dash {
                Dash::Solid => "⠤⠤⠤",
                Dash::Dashed => "⠤⠀⠤",
                Dash::Dotted => "⠄⠄⠄",
                Dash::DashDot => "⠤⠠⠤",
            }
            .to_owned(),
            Shape::Note { .. } | Shape::Margin { .. } => continue,
        };
        // kept together when lines are broken
        parts.push(format!("{sign}\u{a0}{}", safe(name).replace(' ', "\u{a0}")));
    }
    parts.join("  ")
}

fn shade_letter(shade: u8) -> char {
    ['·', '░', '▒', '▓'][usize::from(shade.min(3))]
}

/// On and off, in dots.
fn dots(dash: Dash) -> (usize, usize) {
    match dash {
        Dash::Solid => (1, 0),
        Dash::Dashed => (3, 2),
        Dash::Dotted => (1, 2),
        Dash::DashDot => (4, 1),
    }
}

fn draw(
    shape: &Shape,
    canvas: &mut Canvas,
    column: &dyn Fn(f64) -> f64,
    row: &dyn Fn(f64) -> f64,
    left: usize,
    width: usize,
    height: usize,
) {
    // in dots
    let place = |x: f64, y: f64| (2.0 * column(x), 4.0 * row(y));
    let window = Window {
        left: 2.0 * left as f64,
        top: 0.0,
        right: 2.0 * (left + width) as f64 - 0.01,
        bottom: 4.0 * height as f64 - 0.01,
    };
    let lines = |points: &[(f64, f64)], dash: Dash, colour: Colour, canvas: &mut Canvas| {
        for part in window.line(points) {
            part.windows(2).for_each(|w| canvas.line(w[0], w[1], dots(dash), colour));
        }
    };
    match shape {
        Shape::Band { points, fill, shade } => {
            for c in left..left + width {
                let middle = c as f64 + 0.5;
                let Some((low, high)) = band_at(points, column, middle) else { continue };
                let (top, bottom) = (row(high).max(0.0), row(low));
                for r in 0..height {
                    let centre = r as f64 + 0.5;
                    if centre >= top && centre <= bottom {
                        canvas.shade(c, r, *shade, *fill);
                    }
                }
            }
        }
        Shape::Line { points, stroke } => {
            let points: Vec<_> = points.iter().map(|(x, y)| place(*x, *y)).collect();
            // dashes run on from segment to segment only if these are long: short ones are drawn whole
            for part in window.line(&points) {
                let mut count = 0;
                let (on, off) = dots(stroke.dash);
                for w in part.windows(2) {
                    let steps =
                        (w[1].0 - w[0].0).abs().max((w[1].1 - w[0].1).abs()).ceil().min(10_000.0) as usize;
                    for i in 0..=steps {
                        let t = i as f64 / steps.max(1) as f64;
                        if count % (on + off) < on {
                            let (p, q) = (w[0], w[1]);
                            canvas.dot(p.0 + t * (q.0 - p.0), p.1 + t * (q.1 - p.1), stroke.colour);
                        }
                        count += usize::from(i < steps);
                    }
                }
            }
        }
        Shape::Contour { grid, level, stroke } => {
            for line in grid.lines(*level) {
                let points: Vec<_> = line.iter().map(|(x, y)| place(*x, *y)).collect();
                lines(&points, stroke.dash, stroke.colour, canvas);
            }
        }
        Shape::Points { points, marker } => {
            for (x, y) in points {
                let (c, r) = (column(*x).floor(), row(*y).floor());
                if c >= left as f64 && c < (left + width) as f64 && r >= 0.0 && r < height as f64 {
                    canvas.letter(c as usize, r as usize, marker.form.letter(), Some(marker.colour));
                }
            }
        }
        Shape::Whiskers { points, upright, stroke } => {
            for (at, low, high) in points {
                let ends = match upright {
                    true => [place(*at, *low), place(*at, *high)],
                    false => [place(*low, *at), place(*high, *at)],
                };
                lines(&ends, stroke.dash, stroke.colour, canvas);
            }
        }
        Shape::Rule { at, upright, stroke } => {
            let ends = match upright {
                true => [(2.0 * column(*at), window.bottom), (2.0 * column(*at), window.top)],
                false => [(window.left, 4.0 * row(*at)), (window.right, 4.0 * row(*at))],
            };
            lines(&ends, stroke.dash, stroke.colour, canvas);
        }
        Shape::Region { grid, level, fill, shade } => {
            for c in left..left + width {
                for r in 0..height {
                    let h = nearest(grid, &|x| column(x) - c as f64 - 0.5, &|y| row(y) - r as f64 - 0.5);
                    if h >= *level {
                        canvas.shade(c, r, *shade, *fill);
                    }
                }
            }
        }
        Shape::Bars { points, fill } => {
            for (from, to, h) in points {
                let end = (left + width) as f64;
                let at = |x: f64| column(x).round().clamp(0.0, end) as usize;
                let (a, b) = (at(*from), at(*to));
                let (top, bottom) = (row(*h), row(0.0));
                for c in a.max(left)..b.max(a + 1).min(left + width) {
                    for r in (0..height).filter(|r| *r as f64 + 0.5 >= top && (*r as f64) <= bottom) {
                        canvas.shade(c, r, 2, *fill);
                    }
                }
            }
        }
        Shape::Note { lines: texts, at, right } => {
            let r = ((1.0 - at.1) * height as f64) as usize;
            for (i, text) in texts.iter().enumerate() {
                let text = clipped(&safe(text), width);
                let c = left + (at.0 * width as f64) as usize;
                let c = if *right { c.saturating_sub(text.chars().count()).max(left) } else { c };
                canvas.text(c, r + i, &text);
            }
        }
        Shape::Margin { .. } => {}
    }
}

/// Low and high of a band at a column, between its points.
fn band_at(points: &[(f64, f64, f64)], column: &dyn Fn(f64) -> f64, at: f64) -> Option<(f64, f64)> {
    points.windows(2).find_map(|w| {
        let (a, b) = (column(w[0].0), column(w[1].0));
        if !(a <= at && at <= b && a < b) {
            return None;
        }
        let t = (at - a) / (b - a);
        Some((w[0].1 + t * (w[1].1 - w[0].1), w[0].2 + t * (w[1].2 - w[0].2)))
    })
}

/// The height of a grid at the place nearest to where both distances are 0.
fn nearest(grid: &super::contour::Grid, dx: &dyn Fn(f64) -> f64, dy: &dyn Fn(f64) -> f64) -> f64 {
    let closest = |places: &[f64], d: &dyn Fn(f64) -> f64| {
        let by = |a: &usize, b: &usize| d(places[*a]).abs().total_cmp(&d(places[*b]).abs());
        (0..places.len()).min_by(by)
    };
    match (closest(&grid.x, dx), closest(&grid.y, dy)) {
        (Some(i), Some(j)) => grid.height.get(j * grid.x.len() + i).copied().unwrap_or(f64::NAN),
        _ => f64::NAN,
    }
}

/// The text for a terminal that shows ASCII only: every other character becomes one that is near.
pub fn ascii(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '\u{2800}' | '\u{a0}' => ' ',
            '\u{2801}'..='\u{28ff}' if (u32::from(c) - 0x2800).count_ones() < 2 => '.',
            '\u{2801}'..='\u{28ff}' => '*',
            '░' => '.',
            '▒' => ':',
            '▓' => '#',
            '│' | '┤' => '|',
            '─' => '-',
            '└' | '┬' => '+',
            '◯' => 'O',
            '•' => '@',
            '▲' => '^',
            '■' => '#',
            '◆' => 'V',
            '×' => 'x',
            '−' | '–' => '-',
            '…' => '~',
            c if c.is_ascii() => c,
            _ => '?',
        })
        .collect()
}

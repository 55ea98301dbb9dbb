//! Lines over a few places, drawn as SVG.

use std::fmt::Write as _;

/// A line of a plot: a name, and a value for every place.
#[derive(Clone, Debug)]
pub struct Line {
    /// What it is called.
    pub name: String,
    /// One value for each place, from the left.
    pub values: Vec<f64>,
}

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 360.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 170.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 50.0;
/// How many values are named beside the plot.
const MARKS: u32 = 4;
/// Told apart by people who see no red or no green, too.
const COLOURS: [&str; 6] = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00"];

/// A plot of lines over named places.
#[must_use]
pub fn svg(title: &str, places_are: &str, places: &[String], lines: &[Line]) -> String {
    let highest = lines.iter().flat_map(|line| &line.values).fold(1.0_f64, |high, value| high.max(*value));
    let top = round_up(highest);
    let x = |at: usize| LEFT + (WIDTH - LEFT - RIGHT) * at as f64 / (places.len().max(2) - 1) as f64;
    let y = |value: f64| HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * value / top;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>\n\
         <text x=\"{LEFT}\" y=\"20\" font-size=\"14\">{}</text>\n",
        escaped(title)
    );
    for mark in 0..=MARKS {
        let value = top * f64::from(mark) / f64::from(MARKS);
        let (from, to, at) = (LEFT, WIDTH - RIGHT, y(value));
        let _ = writeln!(
            svg,
            "<line x1=\"{from}\" x2=\"{to}\" y1=\"{at:.1}\" y2=\"{at:.1}\" stroke=\"#ddd\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{value:.0}</text>",
            LEFT - 6.0,
            at + 4.0
        );
    }
    for (at, place) in places.iter().enumerate() {
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            x(at),
            HEIGHT - BOTTOM + 18.0,
            escaped(place)
        );
    }
    let _ = writeln!(
        svg,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
        (LEFT + WIDTH - RIGHT) / 2.0,
        HEIGHT - 12.0,
        escaped(places_are)
    );
    for (number, line) in lines.iter().enumerate() {
        let colour = COLOURS[number % COLOURS.len()];
        let points =
            line.values.iter().enumerate().map(|(at, value)| format!("{:.1},{:.1}", x(at), y(*value)));
        let points = points.collect::<Vec<_>>().join(" ");
        let _ = writeln!(
            svg,
            "<polyline points=\"{points}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>"
        );
        let (at, height) = (WIDTH - RIGHT + 16.0, TOP + 18.0 * number as f64);
        let _ = writeln!(
            svg,
            "<line x1=\"{at}\" x2=\"{}\" y1=\"{height}\" y2=\"{height}\" stroke=\"{colour}\" stroke-width=\"2\"/>\
             <text x=\"{}\" y=\"{}\">{}</text>",
            at + 20.0,
            at + 26.0,
            height + 4.0,
            escaped(&line.name)
        );
    }
    svg + "</svg>\n"
}

/// To one, two or five and zeros.
fn round_up(value: f64) -> f64 {
    let size = 10_f64.powf(value.log10().floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|step| step * size).find(|top| *top >= value).unwrap_or(value)
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_and_place_is_drawn_within_the_frame() {
        let lines = [
            Line { name: "a < b".to_owned(), values: vec![0.0, 1_234.0] },
            Line { name: "c".to_owned(), values: vec![17.0, 1.0] },
        ];
        let drawn = svg("title", "tasks", &["1".to_owned(), "8".to_owned()], &lines);
        assert_eq!(drawn.matches("<polyline").count(), 2);
        assert!(drawn.contains("a &lt; b") && drawn.contains(">2000<"), "{drawn}");
        assert!(drawn.contains("points=\"70.0,310.0 470.0,"), "{drawn}");
    }

    #[test]
    fn highest_mark_is_round() {
        assert_eq!([3.0, 11.0, 450.0, 1_000.0].map(round_up), [5.0, 20.0, 500.0, 1_000.0]);
    }
}

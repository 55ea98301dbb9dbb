//! A screen of our own on the terminal, given back as it was.

use std::io::{self, Write};

use rustix::termios::{self, LocalModes, OptionalActions, Termios};

/// The other screen, without a cursor.
const TAKE: &str = "\x1b[?1049h\x1b[?25l";
const GIVE_BACK: &str = "\x1b[?25h\x1b[?1049l";

/// Where the terminal does not say how large it is.
const SIZE_DEFAULT: (usize, usize) = (24, 80);

pub(super) struct Screen {
    /// How keys were handled before: what is typed must not be drawn over the table.
    keys: Option<Termios>,
}

impl Screen {
    pub(super) fn take() -> Self {
        let keys = termios::tcgetattr(io::stdin()).ok();
        if let Some(mut quiet) = keys.clone() {
            quiet.local_modes.remove(LocalModes::ECHO);
            let _ = termios::tcsetattr(io::stdin(), OptionalActions::Now, &quiet);
        }
        write(TAKE);
        Screen { keys }
    }

    /// As many lines as there are: the terminal may be resized.
    pub(super) fn rows(&self) -> usize {
        size().0
    }

    /// Draws over what was there, all at once so that nothing flickers.
    pub(super) fn draw(&mut self, text: &str) {
        let (rows, columns) = size();
        write(&drawn(text, rows, columns));
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        write(GIVE_BACK);
        if let Some(keys) = &self.keys {
            let _ = termios::tcsetattr(io::stdin(), OptionalActions::Now, keys);
        }
    }
}

fn size() -> (usize, usize) {
    match termios::tcgetwinsize(io::stdout()) {
        Ok(size) if size.ws_row > 0 && size.ws_col > 0 => (size.ws_row.into(), size.ws_col.into()),
        _ => SIZE_DEFAULT,
    }
}

/// A terminal that went away is told by a signal; until then there is nothing to do about it.
fn write(text: &str) {
    let mut out = io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// From the top left; every line is cut to the width and its rest erased, as is all below the last.
fn drawn(text: &str, rows: usize, columns: usize) -> String {
    let lines: Vec<String> = text
        .lines()
        .take(rows)
        .map(|line| line.chars().take(columns).collect::<String>() + "\x1b[K")
        .collect();
    format!("\x1b[H{}\x1b[J", lines.join("\r\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_cut() {
        assert_eq!(drawn("abcdef\ng\nh", 2, 3), "\x1b[Habc\x1b[K\r\ng\x1b[K\x1b[J");
    }
}

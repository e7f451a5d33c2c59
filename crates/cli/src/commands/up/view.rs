//! What the user sees: a table that is drawn anew on a terminal, plain lines elsewhere.

use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};

use model::ObjectKey;

use super::address::Secrets;
use super::board::{Row, Shown};
use super::unit::{State, short};

/// So many objects that are not ready are shown below their unit.
const MOST_OBJECTS: usize = 6;
/// So wide a terminal is where nothing else is known.
const WIDTH: usize = 80;
const HEIGHT: usize = 24;

/// Shows what goes on.
pub(super) struct View {
    live: bool,
    /// What is never shown.
    secrets: Secrets,
    rows: Vec<Row>,
    /// How many lines were drawn last.
    drawn: usize,
    /// What was said last of each object and unit, where there is no table.
    said: BTreeMap<ObjectKey, (State, String)>,
}

impl View {
    pub(super) fn new(secrets: Secrets) -> Self {
        View {
            live: std::io::stdout().is_terminal(),
            secrets,
            rows: Vec::new(),
            drawn: 0,
            said: BTreeMap::new(),
        }
    }

    /// Tells something once, above the table.
    pub(super) fn say(&mut self, text: &str) {
        let frame = self.frame();
        self.print(&format!("{}{}\n{frame}", self.erased(), clean(text)));
        self.drawn = lines(&frame);
    }

    /// Shows how everything is. `objects` are those of the units, the well ones too.
    pub(super) fn show(&mut self, rows: Vec<Row>, objects: Vec<Shown>) {
        if self.live {
            if rows == self.rows {
                return;
            }
            self.rows = rows;
            let frame = self.frame();
            self.print(&format!("{}{frame}", self.erased()));
            self.drawn = lines(&frame);
            return;
        }
        for shown in objects {
            self.tell(&shown.key, shown.state, &shown.detail);
        }
        for row in &rows {
            let detail = match row.state {
                State::Ready => ready_detail(row),
                // It is told with its reasons, and its objects by themselves. That it is well again is told, too, though
                // nothing else has changed.
                State::Failed => {
                    self.said.remove(&row.unit.key);
                    continue;
                }
                State::Waiting => row.detail.clone(),
            };
            self.tell(&row.unit.key, row.state, &detail);
        }
        self.rows = rows;
    }

    /// The table stays as it is: nothing is drawn over it any more.
    pub(super) fn end(&mut self) {
        self.drawn = 0;
        self.live = false;
    }

    fn tell(&mut self, key: &ObjectKey, state: State, detail: &str) {
        let now = (state, detail.to_owned());
        if self.said.get(key) == Some(&now) {
            return;
        }
        self.said.insert(key.clone(), now);
        let line = match detail {
            "" => format!("{:<9} {key}", state.word()),
            detail => format!("{:<9} {key}: {}", state.word(), first_line(detail)),
        };
        self.print(&format!("{}\n", clean(&line)));
    }

    /// Writes to standard output; a reader that went away is no reason to panic.
    fn print(&self, text: &str) {
        let mut out = std::io::stdout().lock();
        let text = self.secrets.masked(text);
        let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    }

    /// What takes the table away.
    fn erased(&self) -> String {
        match self.drawn {
            0 => String::new(),
            drawn => format!("\x1b[{drawn}A\x1b[J"),
        }
    }

    /// The table.
    fn frame(&self) -> String {
        if !self.live || self.rows.is_empty() {
            return String::new();
        }
        let (width, height) = size();
        table(&self.rows, width, height)
    }
}

/// The table of units, with what is not ready below each, cut to the size of the terminal: one thing is one line, so that it can
/// be drawn over.
fn table(rows: &[Row], width: usize, height: usize) -> String {
    let names: Vec<String> = rows.iter().map(|row| name(&row.unit.key)).collect();
    let revisions: Vec<String> = rows.iter().map(|row| short(&row.unit.revision)).collect();
    let widest = |texts: &[String], least: usize, most: usize| {
        let longest = texts.iter().map(|text| text.chars().count()).max();
        longest.unwrap_or_default().clamp(least, most)
    };
    let first = widest(&names, 4, (width * 2 / 5).max(12));
    let second = widest(&revisions, 8, (width * 3 / 10).max(12));
    let mut table = vec![
        String::new(),
        format!("{:<first$}  {:<second$}  STATE    DETAIL", "UNIT", "REVISION"),
    ];
    for ((row, name), revision) in rows.iter().zip(&names).zip(&revisions) {
        let detail = match row.state {
            State::Ready => count(row),
            _ => row.detail.clone(),
        };
        table.push(format!(
            "{:<first$}  {:<second$}  {:<7}  {}",
            cut(name, first),
            cut(revision, second),
            row.state.word(),
            first_line(&detail)
        ));
        for shown in row.unready.iter().take(MOST_OBJECTS) {
            let mark = if shown.state == State::Failed {
                "✗"
            } else {
                "…"
            };
            table.push(format!("  {mark} {}: {}", shown.key, first_line(&shown.detail)));
        }
        if row.unready.len() > MOST_OBJECTS {
            table.push(format!("  … and {} more", row.unready.len() - MOST_OBJECTS));
        }
    }
    // The line of the cursor and the one before the table are needed, too.
    let room = height.saturating_sub(2).max(4);
    if table.len() > room {
        let hidden = table.len() - room + 1;
        table.truncate(room - 1);
        table.push(format!("… and {hidden} more lines: the terminal is too small"));
    }
    let lines = table.iter().map(|line| cut(line.trim_end(), width));
    lines.map(|line| format!("{line}\n")).collect()
}

/// A unit as people call it.
fn name(key: &ObjectKey) -> String {
    let place = match key.namespace.as_str() {
        "flux-system" => key.name.to_string(),
        namespace => format!("{namespace}/{}", key.name),
    };
    format!("{}/{place}", key.kind)
}

fn count(row: &Row) -> String {
    match (row.unit.detail.as_str(), row.count) {
        ("suspended", _) => "suspended".to_owned(),
        (_, 0) => String::new(),
        (_, 1) => "1 object".to_owned(),
        (_, count) => format!("{count} objects"),
    }
}

fn ready_detail(row: &Row) -> String {
    let parts = [short(&row.unit.revision), count(row)];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join(", ")
}

/// Prints a list of reasons below a line.
pub(super) fn listed(head: &str, reasons: &[String]) -> String {
    let mut text = head.to_owned();
    for reason in reasons {
        text.push_str("\n  ");
        text.push_str(&reason.replace('\n', "\n    "));
    }
    text
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

fn lines(text: &str) -> usize {
    text.matches('\n').count()
}

fn cut(text: &str, width: usize) -> String {
    let text = clean(text);
    if text.chars().count() <= width {
        return text;
    }
    let mut short: String = text.chars().take(width.saturating_sub(1)).collect();
    short.push('…');
    short
}

/// How wide and high the terminal is.
#[cfg(unix)]
fn size() -> (usize, usize) {
    match rustix::termios::tcgetwinsize(std::io::stdout()) {
        Ok(size) if size.ws_col > 0 && size.ws_row > 0 => (size.ws_col.into(), size.ws_row.into()),
        _ => (WIDTH, HEIGHT),
    }
}

#[cfg(not(unix))]
fn size() -> (usize, usize) {
    (WIDTH, HEIGHT)
}

/// A text whose control characters, which names of files and messages may hold, do nothing to the terminal.
fn clean(text: &str) -> String {
    let letter = |letter: char| match letter.is_control() && letter != '\n' {
        true => char::REPLACEMENT_CHARACTER,
        false => letter,
    };
    text.chars().map(letter).collect()
}

#[cfg(test)]
mod tests {
    use model::value;

    use super::super::unit::Unit;
    use super::*;

    fn row(unready: usize) -> Row {
        let unit = Unit::of(&value!({
            "apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization",
            "metadata": {"name": "hello", "namespace": "flux-system"},
            "status": {"lastAppliedRevision": "working-tree@sha1:0123456789abcdef"},
        }));
        let object = |number: usize| Shown {
            key: ObjectKey::of(&value!({
                "apiVersion": "apps/v1", "kind": "Deployment",
                "metadata": {"name": (format!("web-{number}")), "namespace": "hello"},
            })),
            state: State::Waiting,
            detail: format!("Available: 0/2; {}", "a long story ".repeat(20)),
        };
        Row {
            unit,
            state: State::Waiting,
            detail: String::new(),
            count: 9,
            unready: (0..unready).map(object).collect(),
        }
    }

    #[test]
    fn a_table_fits_its_terminal() {
        for (width, height, unready) in [(80, 24, 3), (40, 10, 9), (200, 6, 9)] {
            let text = table(&[row(unready), row(0)], width, height);
            assert!(text.lines().count() <= height - 2, "{text}");
            let wide = text.lines().find(|line| line.chars().count() > width);
            assert_eq!(wide, None, "{text}");
        }
    }

    #[test]
    fn a_unit_is_one_line_with_what_it_waits_for_below() {
        let text = table(&[row(1)], 80, 24);
        let lines: Vec<&str> = text.lines().skip(1).collect();
        assert_eq!(
            lines[0],
            "UNIT                 REVISION               STATE    DETAIL"
        );
        assert_eq!(lines[1], "Kustomization/hello  working-tree@01234567  waiting");
        assert!(
            lines[2].starts_with("  … Deployment/hello/web-0: Available: 0/2; a long"),
            "{text}"
        );
    }
}

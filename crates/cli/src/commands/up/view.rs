//! What the user sees: a table that is drawn anew on a terminal, plain lines elsewhere.

use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};
use std::path::Path;

use model::ObjectKey;

use super::status::State;
use super::sync::{Outcome, What};

/// One line of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub state: State,
    pub detail: String,
}

/// Shows what goes on.
pub(super) struct View {
    live: bool,
    rows: BTreeMap<ObjectKey, Row>,
    /// How many lines were drawn last.
    drawn: usize,
}

impl View {
    pub(super) fn new() -> Self {
        View {
            live: std::io::stdout().is_terminal(),
            rows: BTreeMap::new(),
            drawn: 0,
        }
    }

    /// Tells something once, above the table.
    pub(super) fn say(&mut self, text: &str) {
        self.erase();
        print_line(text);
        self.draw();
    }

    /// Tells what was done.
    pub(super) fn outcomes(&mut self, outcomes: &[Outcome]) {
        self.erase();
        for outcome in outcomes {
            let key = &outcome.key;
            match &outcome.what {
                What::Pruned => drop(self.rows.remove(key)),
                What::Failed(reason) => {
                    let row = Row {
                        state: State::Failed,
                        detail: reason.clone(),
                    };
                    // What is tried again and fails in the same way is not told again.
                    if self.rows.insert(key.clone(), row.clone()) == Some(row) {
                        continue;
                    }
                }
                What::Created | What::Changed | What::Restored => {}
            }
            print_line(&outcome.to_string());
        }
        self.draw();
    }

    /// Tells how an object is doing.
    pub(super) fn status(&mut self, key: &ObjectKey, row: Row) {
        if self.rows.get(key) == Some(&row) {
            return;
        }
        self.erase();
        if !self.live {
            let detail = if row.detail.is_empty() {
                String::new()
            } else {
                format!(": {}", row.detail)
            };
            print_line(&format!("{:<9} {key}{detail}", short(row.state)));
        }
        self.rows.insert(key.clone(), row);
        self.draw();
    }

    /// The objects that are not as they shall be, with the reason.
    pub(super) fn unready(&self) -> impl Iterator<Item = (&ObjectKey, &Row)> {
        self.rows.iter().filter(|(_, row)| row.state != State::Ready)
    }

    /// Shows only these from now on.
    pub(super) fn keep(&mut self, wanted: impl Fn(&ObjectKey) -> bool) {
        self.erase();
        self.rows.retain(|key, _| wanted(key));
        self.draw();
    }

    /// How many objects are shown.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    fn erase(&mut self) {
        if self.drawn > 0 {
            print(&format!("\x1b[{}A\x1b[J", self.drawn));
            self.drawn = 0;
        }
    }

    fn draw(&mut self) {
        if !self.live || self.rows.is_empty() {
            return;
        }
        let names: Vec<String> = self.rows.keys().map(ToString::to_string).collect();
        let width = names.iter().map(String::len).max().unwrap_or(0).max(6);
        let mut text = format!("\n{:<width$}  {:<11}  DETAIL\n", "OBJECT", "STATE");
        for (name, row) in names.iter().zip(self.rows.values()) {
            // Cut, so that one object is one line and the table can be drawn over.
            let detail: String = row
                .detail
                .lines()
                .next()
                .unwrap_or_default()
                .chars()
                .filter(|letter| !letter.is_control())
                .take(80)
                .collect();
            text.push_str(&format!("{name:<width$}  {:<11}  {detail}\n", row.state.word()));
        }
        self.drawn = text.matches('\n').count();
        print(&text);
    }
}

fn short(state: State) -> &'static str {
    match state {
        State::Progressing => "waiting",
        other => other.word(),
    }
}

/// Where the cluster is and how to reach it.
pub(super) fn greeting(folder: &Path, kubeconfig: &Path, address: std::net::SocketAddr) -> String {
    format!(
        "Keeping {} in sync with an embedded Kubernetes API on https://{address}.\n\
         It is for development: it runs no containers and is gone when you press Ctrl-C.\n\
         Look inside with: kubectl --kubeconfig {} get all -A\n",
        folder.display(),
        kubeconfig.display()
    )
}

/// Prints a text and ends the line. Control characters, which names of files and messages may hold, do nothing to the
/// terminal.
fn print_line(text: &str) {
    let shown: String = text
        .chars()
        .map(|letter| {
            if letter.is_control() && letter != '\n' {
                char::REPLACEMENT_CHARACTER
            } else {
                letter
            }
        })
        .collect();
    print(&format!("{shown}\n"));
}

/// Writes to standard output; a reader that went away is no reason to panic.
fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

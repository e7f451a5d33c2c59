//! How many requests came in, by verb, resource and client: what tests compare to show that an idle loop is idle.

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use model::Str;
use parking_lot::Mutex;

use crate::auth::{Attributes, Target};

/// Beyond so many different rows, new ones are counted together: clients choose paths and user agents.
const LIMIT: usize = 10_000;
const OTHER: &str = "(other)";

/// Counts requests.
#[derive(Debug, Default)]
pub struct Requests {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    rows: HashMap<String, (Row, u64)>,
    /// The key of the current request, put together here so that counting a known row allocates nothing.
    key: String,
}

/// What requests are counted by.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Row {
    /// The first word of the user agent: `kubectl/v1.35.0`.
    pub client: Str,
    /// `deployments.apps/scale`, or the path where it belongs to no resource.
    pub resource: Str,
    /// `get`, `list`, `watch`, ...
    pub verb: Str,
}

/// How many requests there were at one time, or between two times.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    rows: BTreeMap<Row, u64>,
}

impl Requests {
    /// Counts a request.
    pub fn count(&self, request: &Attributes<'_>, user_agent: &str) {
        let client = user_agent.split(' ').next().unwrap_or_default();
        let State { rows, key, .. } = &mut *self.state.lock();
        key.clear();
        key.push_str(request.verb);
        key.push('\0');
        push_resource(key, &request.target);
        key.push('\0');
        key.push_str(client);
        if let Some((_, count)) = rows.get_mut(key.as_str()) {
            *count += 1;
            return;
        }
        let (resource, client) = match rows.len() < LIMIT {
            true => {
                let mut resource = String::new();
                push_resource(&mut resource, &request.target);
                (Str::from(resource), Str::new(client))
            }
            false => {
                *key = format!("{}\0{OTHER}", request.verb);
                (Str::new(OTHER), Str::new(OTHER))
            }
        };
        let row = Row {
            client,
            resource,
            verb: Str::new(request.verb),
        };
        rows.entry(key.clone()).or_insert((row, 0)).1 += 1;
    }

    /// The counts as they are now.
    pub fn snapshot(&self) -> Counts {
        Counts {
            rows: self.state.lock().rows.values().cloned().collect(),
        }
    }

    /// Starts again from zero, and returns what was counted.
    pub fn reset(&self) -> Counts {
        let rows = std::mem::take(&mut self.state.lock().rows);
        Counts {
            rows: rows.into_values().collect(),
        }
    }
}

fn push_resource(text: &mut String, target: &Target<'_>) {
    match target {
        Target::Path(path) => text.push_str(path),
        Target::Resource(target) => {
            text.push_str(target.resource);
            for (sign, part) in [('.', target.group), ('/', target.subresource)] {
                if !part.is_empty() {
                    text.push(sign);
                    text.push_str(part);
                }
            }
        }
    }
}

impl Counts {
    /// The rows with at least one request, by client, resource and verb.
    pub fn iter(&self) -> impl Iterator<Item = (&Row, u64)> {
        self.rows.iter().map(|(row, count)| (row, *count))
    }

    /// All requests together.
    pub fn total(&self) -> u64 {
        self.rows.values().sum()
    }

    /// The requests of the rows that `wanted` picks.
    pub fn sum(&self, wanted: impl Fn(&Row) -> bool) -> u64 {
        self.iter()
            .filter(|(row, _)| wanted(row))
            .map(|(_, count)| count)
            .sum()
    }

    /// What came in after `earlier`, a snapshot of the same server with no reset in between.
    #[must_use]
    pub fn since(&self, earlier: &Counts) -> Counts {
        let new = |(row, count): (&Row, u64)| {
            let count = count.saturating_sub(earlier.rows.get(row).copied().unwrap_or_default());
            (count > 0).then(|| (row.clone(), count))
        };
        Counts {
            rows: self.iter().filter_map(new).collect(),
        }
    }
}

/// A table with a line for each row, and the sum.
impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let heading = ["CLIENT", "RESOURCE", "VERB"];
        let cells = |row: &Row| [row.client.clone(), row.resource.clone(), row.verb.clone()];
        let mut widths = heading.map(str::len);
        for row in self.rows.keys() {
            for (width, cell) in widths.iter_mut().zip(cells(row)) {
                *width = (*width).max(cell.chars().count());
            }
        }
        let [client, resource, verb] = widths;
        let mut line = |cells: [&str; 3], count: &str| {
            writeln!(
                f,
                "{:client$}  {:resource$}  {:verb$}  {count:>7}",
                cells[0], cells[1], cells[2]
            )
        };
        line(heading, "COUNT")?;
        for (row, count) in self.iter() {
            line([&row.client, &row.resource, &row.verb], &count.to_string())?;
        }
        line(["total", "", ""], &self.total().to_string())
    }
}

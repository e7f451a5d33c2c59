//! Texts beside each other, where there is room for that.

use super::WIDTH;

/// What stands between two columns.
const GAP: &str = "   ";

/// Texts beside each other, or below each other where they are too wide for that.
pub(super) fn beside(indent: usize, blocks: &[String]) -> String {
    let gaps = GAP.len() * blocks.len().saturating_sub(1);
    let width = indent + gaps + blocks.iter().map(|block| width(block)).sum::<usize>();
    if width <= WIDTH {
        return table(GAP, indent, blocks);
    }
    let lines = blocks.iter().flat_map(|block| block.split('\n'));
    lines.map(|line| format!("{:indent$}{line}\n", "")).collect()
}

/// Texts as the columns of a table, without spaces at the ends of its lines.
pub(super) fn table(gap: &str, indent: usize, columns: &[String]) -> String {
    let columns: Vec<(usize, Vec<&str>)> = columns
        .iter()
        .map(|column| (width(column), column.split('\n').collect()))
        .collect();
    let rows = columns.iter().map(|(_, lines)| lines.len()).max();
    let rows = (0..rows.unwrap_or_default()).map(|row| {
        let cells = columns.iter().map(|(width, lines)| {
            let line = lines.get(row).copied().unwrap_or_default();
            let padding = width - line.chars().count();
            format!("{:indent$}{line}{:padding$}", "", "")
        });
        let cells: Vec<String> = cells.collect();
        cells.join(gap).trim_end_matches(' ').to_owned()
    });
    rows.collect::<Vec<String>>().join("\n")
}

fn width(text: &str) -> usize {
    let lines = text.split('\n').map(|line| line.chars().count());
    lines.max().unwrap_or_default()
}

//! Compares a table of templates, with what Go made of them, with what we make of them.
//!
//! `cargo run -p gotemplate --example compare -- DATA TABLE` prints each difference and a score.

#[path = "../tests/it/support.rs"]
mod support;

use std::path::PathBuf;

fn main() {
    let mut args = std::env::args_os().skip(1).map(PathBuf::from);
    let (Some(data), Some(table)) = (args.next(), args.next()) else {
        eprintln!("usage: compare DATA TABLE");
        std::process::exit(2);
    };
    let score = support::compare(&data, &table);
    for difference in &score.differences {
        println!("{difference}\n");
    }
    println!(
        "{} of {} are the same",
        score.cases - score.differences.len(),
        score.cases
    );
    if !score.differences.is_empty() {
        std::process::exit(1);
    }
}

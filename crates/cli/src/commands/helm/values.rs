//! The flags that give values.

use std::fs;
use std::io::Read as _;

use anyhow::Context as _;
use helm::values::Given;
use model::Map;

/// Where values come from.
#[derive(clap::Args, Clone, Default)]
pub(super) struct Values {
    /// A file with values, or - for standard input; may be repeated, and later ones win
    #[arg(short = 'f', long = "values", value_name = "FILE", value_delimiter = ',')]
    files: Vec<String>,
    /// Set values: key1=val1,key2=val2; may be repeated
    #[arg(long, value_name = "VALUES")]
    set: Vec<String>,
    /// Set values that are strings, whatever they look like
    #[arg(long, value_name = "VALUES")]
    set_string: Vec<String>,
    /// Set values that are the content of files: key1=path1,key2=path2
    #[arg(long, value_name = "FILES")]
    set_file: Vec<String>,
    /// Set values that are JSON: key1=json1,key2=json2, or a whole map
    #[arg(long, value_name = "JSON")]
    set_json: Vec<String>,
    /// Set one value that is all text after the first =
    #[arg(long, value_name = "VALUE")]
    set_literal: Vec<String>,
}

impl Values {
    /// Reads the files and puts everything together.
    pub(super) fn merge(&self) -> anyhow::Result<Map> {
        let mut given = Given {
            json: self.set_json.clone(),
            set: self.set.clone(),
            strings: self.set_string.clone(),
            set_files: self.set_file.clone(),
            literals: self.set_literal.clone(),
            ..Given::default()
        };
        for name in &self.files {
            given.files.push((name.clone(), read(name)?));
        }
        let merged = given.merge(&mut |name| {
            let content = read(name).map_err(|error| format!("{error:#}"))?;
            Ok(String::from_utf8_lossy(&content).into_owned())
        });
        merged.map_err(|error| super::whole(&error))
    }
}

fn read(name: &str) -> anyhow::Result<Vec<u8>> {
    if name.trim() == "-" {
        let mut content = Vec::new();
        std::io::stdin()
            .read_to_end(&mut content)
            .context("failed to read standard input")?;
        return Ok(content);
    }
    fs::read(name).with_context(|| format!("open {name}"))
}

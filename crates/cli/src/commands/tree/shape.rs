//! A tree of objects, and its forms.

use model::ObjectKey;
use serde_json::{Value, json};

use crate::commands::objects::yaml_of;

#[derive(Clone, Copy, clap::ValueEnum)]
pub(super) enum Output {
    Json,
    Yaml,
}

/// An object and what it has made.
pub(super) struct Node {
    pub(super) key: ObjectKey,
    pub(super) made: Vec<Node>,
}

impl Node {
    pub(super) fn new(key: ObjectKey) -> Node {
        Node {
            key,
            made: Vec::new(),
        }
    }

    /// Prints it.
    pub(super) fn print(&self, output: Option<Output>) -> anyhow::Result<()> {
        match output {
            None => println!("{}", self.drawn()),
            Some(Output::Json) => println!("{}", self.json(0)?),
            Some(Output::Yaml) => println!("{}", yaml_of(&self.value())?),
        }
        Ok(())
    }

    /// With lines that lead from each object to those it has made.
    fn drawn(&self) -> String {
        let mut out = format!("{}\n", self.key);
        self.draw_made("", &mut out);
        out
    }

    fn draw_made(&self, indent: &str, out: &mut String) {
        for (number, node) in self.made.iter().enumerate() {
            let (branch, below) = match number + 1 == self.made.len() {
                true => ("└── ", "    "),
                false => ("├── ", "│   "),
            };
            *out += &format!("{indent}{branch}{}\n", node.key);
            node.draw_made(&format!("{indent}{below}"), out);
        }
    }

    fn value(&self) -> Value {
        let ObjectKey {
            group,
            kind,
            namespace,
            name,
        } = &self.key;
        let mut value = json!({"resource": {
            "Namespace": namespace, "Name": name, "GroupKind": {"Group": group, "Kind": kind},
        }});
        if !self.made.is_empty() {
            value["resources"] = self.made.iter().map(Node::value).collect();
        }
        value
    }

    /// With the fields in the order in which the flux client has them, which is none of the alphabet.
    fn json(&self, depth: usize) -> serde_json::Result<String> {
        let ObjectKey {
            group,
            kind,
            namespace,
            name,
        } = &self.key;
        let quoted = |text: &str| serde_json::to_string(text);
        let indent = "  ".repeat(depth);
        let mut out = format!(
            "{{\n{indent}  \"resource\": {{\n{indent}    \"Namespace\": {},\n{indent}    \"Name\": {},\n\
             {indent}    \"GroupKind\": {{\n{indent}      \"Group\": {},\n{indent}      \"Kind\": {}\n\
             {indent}    }}\n{indent}  }}",
            quoted(namespace)?,
            quoted(name)?,
            quoted(group)?,
            quoted(kind)?,
        );
        if !self.made.is_empty() {
            let made: Result<Vec<String>, _> = self.made.iter().map(|node| node.json(depth + 2)).collect();
            let made = made?.join(&format!(",\n{indent}    "));
            out += &format!(",\n{indent}  \"resources\": [\n{indent}    {made}\n{indent}  ]");
        }
        Ok(format!("{out}\n{indent}}}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree() -> Node {
        let key = |kind: &str, name: &str| ObjectKey {
            group: "g".into(),
            kind: kind.into(),
            namespace: "n".into(),
            name: name.into(),
        };
        let mut first = Node::new(key("A", "first"));
        first.made.push(Node::new(key("B", "inner")));
        let mut root = Node::new(key("A", "root"));
        root.made = vec![first, Node::new(key("B", "last"))];
        root
    }

    #[test]
    fn lines_lead_to_what_was_made() {
        let expected = "A/n/root\n├── A/n/first\n│   └── B/n/inner\n└── B/n/last\n";
        assert_eq!(tree().drawn(), expected);
    }

    #[test]
    fn the_json_form_is_json() {
        let read: Value = serde_json::from_str(&tree().json(0).unwrap()).unwrap();
        assert_eq!(read, tree().value());
    }
}

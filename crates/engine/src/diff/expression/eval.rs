//! What an expression names in an object.

use std::borrow::Cow;

use model::{Value, json};

use super::{Check, Comparison, Node, Step, order};

/// How many values an expression may give on its way, those in between among them: `.. | .. | ..` grows with the power of the
/// object's size.
const WORK_LIMIT: usize = 200_000;

/// A value, and where it is if it is a part of the object.
#[derive(Clone)]
struct Found<'v> {
    path: Option<Vec<Step>>,
    value: Cow<'v, Value>,
}

/// The paths to what `node` names. Where that is more than the limit it names nothing, as an expression that fails does.
pub(super) fn paths(node: &Node, object: &Value) -> Vec<Vec<Step>> {
    let root = Found {
        path: Some(Vec::new()),
        value: Cow::Borrowed(object),
    };
    let mut run = Run { work: WORK_LIMIT };
    let found = run.eval(node, root);
    if run.work == 0 {
        return Vec::new();
    }
    found.into_iter().filter_map(|found| found.path).collect()
}

struct Run {
    work: usize,
}

impl Run {
    /// Takes work away; whether any is left.
    fn spend(&mut self, work: usize) -> bool {
        self.work = self.work.saturating_sub(work);
        self.work > 0
    }

    fn eval<'v>(&mut self, node: &Node, input: Found<'v>) -> Vec<Found<'v>> {
        if !self.spend(1) {
            return Vec::new();
        }
        match node {
            Node::Identity => vec![input],
            Node::Everything => self.everything(input),
            Node::Child(of, place) => {
                let places = self.values(place, &input);
                let found = self.eval(of, input);
                if !self.spend(found.len().saturating_mul(places.len())) {
                    return Vec::new();
                }
                let children = found
                    .iter()
                    .flat_map(|of| places.iter().filter_map(move |place| child(of, place)));
                children.collect()
            }
            Node::Each(of) => self
                .eval(of, input)
                .iter()
                .flat_map(|of| self.children(of))
                .collect(),
            Node::Pipe(a, b) => {
                let found = self.eval(a, input);
                found.into_iter().flat_map(|found| self.eval(b, found)).collect()
            }
            Node::Comma(a, b) => {
                let mut found = self.eval(a, input.clone());
                found.extend(self.eval(b, input));
                found
            }
            Node::Otherwise(a, b) => {
                let mut found = self.eval(a, input.clone());
                found.retain(|found| is_true(&found.value));
                if found.is_empty() {
                    self.eval(b, input)
                } else {
                    found
                }
            }
            Node::Select(condition) => {
                let conditions = self.values(condition, &input);
                let times = conditions.iter().filter(|value| is_true(value)).count();
                std::iter::repeat_n(input, times).collect()
            }
            Node::First(of) => self.eval(of, input).into_iter().take(1).collect(),
            Node::Last(of) => self.eval(of, input).into_iter().last().into_iter().collect(),
            Node::Empty => Vec::new(),
            Node::And(a, b) => self.both(a, b, &input, |a, b| a && b),
            Node::Or(a, b) => self.both(a, b, &input, |a, b| a || b),
            Node::Compare(a, comparison, b) => {
                let (left, right) = (self.values(a, &input), self.values(b, &input));
                if !self.spend(left.len().saturating_mul(right.len())) {
                    return Vec::new();
                }
                let pairs = right.iter().flat_map(|b| left.iter().map(move |a| (a, b)));
                pairs.map(|(a, b)| made(comparison.holds(a, b))).collect()
            }
            Node::Literal(value) => vec![made(value.clone())],
            Node::Any(condition) => vec![made(self.members(&input, condition).into_iter().any(|is| is))],
            Node::All(condition) => vec![made(self.members(&input, condition).into_iter().all(|is| is))],
            Node::In(of) => {
                let values = self.values(of, &input);
                vec![made(
                    values.iter().any(|value| value.as_ref() == input.value.as_ref()),
                )]
            }
            Node::Check(check, argument) => {
                let arguments = self.values(argument, &input);
                let answers = arguments
                    .iter()
                    .filter_map(|argument| check.holds(&input.value, argument));
                answers.map(made).collect()
            }
            _ => function(node, &input.value).into_iter().map(made).collect(),
        }
    }

    fn values<'v>(&mut self, node: &Node, input: &Found<'v>) -> Vec<Cow<'v, Value>> {
        let found = self.eval(node, input.clone());
        found.into_iter().map(|found| found.value).collect()
    }

    fn both<'v>(
        &mut self,
        a: &Node,
        b: &Node,
        input: &Found<'v>,
        is: fn(bool, bool) -> bool,
    ) -> Vec<Found<'v>> {
        let (left, right) = (self.values(a, input), self.values(b, input));
        if !self.spend(left.len().saturating_mul(right.len())) {
            return Vec::new();
        }
        let pairs = left
            .iter()
            .flat_map(|a| right.iter().map(move |b| (is_true(a), is_true(b))));
        pairs.map(|(a, b)| made(is(a, b))).collect()
    }

    /// What a condition says of each element of the input.
    fn members(&mut self, input: &Found<'_>, condition: &Node) -> Vec<bool> {
        let mut answers = Vec::new();
        for member in self.children(input) {
            answers.extend(self.values(condition, &member).iter().map(|value| is_true(value)));
        }
        answers
    }

    fn everything<'v>(&mut self, input: Found<'v>) -> Vec<Found<'v>> {
        let mut found = vec![input];
        let mut at = 0;
        while at < found.len() && self.work > 0 {
            let children = self.children(&found[at]);
            found.extend(children);
            at += 1;
        }
        found
    }

    fn children<'v>(&mut self, of: &Found<'v>) -> Vec<Found<'v>> {
        let children: Vec<Found<'v>> = match of.value.as_ref() {
            Value::Object(map) => map
                .keys()
                .filter_map(|name| child(of, &Value::str(name)))
                .collect(),
            Value::Array(items) => (0..items.len())
                .filter_map(|at| child(of, &Value::Int(at as i64)))
                .collect(),
            _ => Vec::new(),
        };
        self.work = self.work.saturating_sub(children.len());
        children
    }
}

fn made<'v>(value: impl Into<Value>) -> Found<'v> {
    Found {
        path: None,
        value: Cow::Owned(value.into()),
    }
}

/// The field or element at `place`: null where it is missing, nothing where there can be none.
fn child<'v>(of: &Found<'v>, place: &Value) -> Option<Found<'v>> {
    let step = match (of.value.as_ref(), place) {
        (Value::Object(_) | Value::Null, Value::Str(name)) => Step::Name(name.to_string()),
        (Value::Array(items), Value::Int(at)) if *at < 0 => {
            Step::Index(usize::try_from(items.len() as i64 + at).ok()?)
        }
        (Value::Array(_) | Value::Null, Value::Int(at)) => Step::Index(usize::try_from(*at).ok()?),
        _ => return None,
    };
    let value = match &of.value {
        Cow::Borrowed(value) => get(value, &step).map(Cow::Borrowed),
        Cow::Owned(value) => get(value, &step).map(|value| Cow::Owned(value.clone())),
    };
    let path = of.path.as_ref().map(|path| {
        let mut path = path.clone();
        path.push(step);
        path
    });
    Some(Found {
        path,
        value: value.unwrap_or(Cow::Owned(Value::Null)),
    })
}

fn get<'v>(value: &'v Value, step: &Step) -> Option<&'v Value> {
    match step {
        Step::Name(name) => value.get(name),
        Step::Index(at) => value.as_array()?.get(*at),
    }
}

fn is_true(value: &Value) -> bool {
    !matches!(value, Value::Null | Value::Bool(false))
}

/// A function of nothing but its input; nothing where jq would fail.
fn function(node: &Node, input: &Value) -> Option<Value> {
    Some(match (node, input) {
        (Node::Not, value) => (!is_true(value)).into(),
        (Node::Test(regex), Value::Str(text)) => regex.is_match(text).into(),
        (Node::Length, Value::Null) => Value::Int(0),
        (Node::Length, Value::Str(text)) => Value::Int(text.chars().count() as i64),
        (Node::Length, Value::Array(items)) => Value::Int(items.len() as i64),
        (Node::Length, Value::Object(map)) => Value::Int(map.len() as i64),
        (Node::Type, value) => match value.type_name() {
            "integer" => "number".into(),
            name => name.into(),
        },
        (Node::Text, Value::Str(text)) => text.clone().into(),
        (Node::Text, value) => json::to_string(value).into(),
        (Node::Lower, Value::Str(text)) => text.to_ascii_lowercase().into(),
        (Node::Upper, Value::Str(text)) => text.to_ascii_uppercase().into(),
        _ => return None,
    })
}

impl Comparison {
    fn holds(self, a: &Value, b: &Value) -> bool {
        match self {
            Comparison::Equal => a == b,
            Comparison::NotEqual => a != b,
            Comparison::Less => order(a, b).is_lt(),
            Comparison::LessOrEqual => order(a, b).is_le(),
            Comparison::Greater => order(a, b).is_gt(),
            Comparison::GreaterOrEqual => order(a, b).is_ge(),
        }
    }
}

impl Check {
    fn holds(self, input: &Value, argument: &Value) -> Option<bool> {
        Some(match (self, input, argument) {
            (Check::StartsWith, Value::Str(text), Value::Str(part)) => text.starts_with(part.as_str()),
            (Check::EndsWith, Value::Str(text), Value::Str(part)) => text.ends_with(part.as_str()),
            (Check::Has, Value::Object(map), Value::Str(name)) => map.contains_key(name),
            (Check::Has, Value::Array(items), Value::Int(at)) => {
                usize::try_from(*at).is_ok_and(|at| at < items.len())
            }
            (Check::Contains, a, b) => contains(a, b),
            _ => return None,
        })
    }
}

fn contains(whole: &Value, part: &Value) -> bool {
    match (whole, part) {
        (Value::Str(whole), Value::Str(part)) => whole.contains(part.as_str()),
        (Value::Array(whole), Value::Array(parts)) => parts
            .iter()
            .all(|part| whole.iter().any(|whole| contains(whole, part))),
        (Value::Object(whole), Value::Object(parts)) => parts
            .iter()
            .all(|(name, part)| whole.get(name).is_some_and(|whole| contains(whole, part))),
        (a, b) => a == b,
    }
}

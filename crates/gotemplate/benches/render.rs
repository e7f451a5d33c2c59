//! How long a template takes that looks like those of charts: helpers, ranges, `toJson`, `indent`, `default`, `printf`.

use std::sync::Arc;

use gotemplate::{FixedWorld, Function, Functions, Limits, Map, MissingKey, Session, Templates, Type, Value};

fn main() {
    divan::main();
}

const TEMPLATE: &str = include_str!("deployment.tpl");

fn functions() -> Functions {
    let mut functions = Functions::sprig();
    functions.insert(
        "include",
        Function::new(&[Type::String, Type::Any], |call| {
            let text = call.render(&call.str(0), call.arg(1))?;
            Ok(Value::string_of_vec(text))
        }),
    );
    functions
}

fn data() -> Value {
    let items = (0..50).map(|number| {
        Value::Map(Map::from_iter([
            ("name", Value::str(format!("container-{number}"))),
            ("port", Value::Float(f64::from(number) + 8000.0)),
            ("image", Value::str("registry.example.com/team/app")),
            (
                "tag",
                if number % 2 == 0 {
                    Value::Nil
                } else {
                    Value::str("v1.2.3")
                },
            ),
            (
                "env",
                Value::Map(Map::from_iter([("A", Value::str("1")), ("B", Value::str("two"))])),
            ),
        ]))
    });
    Value::Map(Map::from_iter([
        ("name", Value::str("My Release")),
        (
            "labels",
            Value::Map(Map::from_iter([
                ("app", Value::str("x")),
                ("team", Value::str("y")),
            ])),
        ),
        ("items", Value::list(items.collect())),
    ]))
}

fn templates() -> Templates {
    let mut templates = Templates::new(Arc::new(functions())).with_missing_key(MissingKey::Zero);
    templates
        .parse("deployment.tpl", TEMPLATE)
        .expect("it is a template");
    templates
}

#[divan::bench]
fn render_50_containers(bencher: divan::Bencher<'_, '_>) {
    let (templates, data) = (templates(), data());
    bencher.bench(|| {
        let mut world = FixedWorld::new(jiff::Timestamp::UNIX_EPOCH, 1);
        let mut session = Session::new(Limits::default(), &mut world);
        templates
            .execute("deployment.tpl", &data, &mut session)
            .expect("it renders")
    });
}

#[divan::bench]
fn read_the_template(bencher: divan::Bencher<'_, '_>) {
    let functions = Arc::new(functions());
    bencher.bench(|| {
        let mut templates = Templates::new(functions.clone());
        templates
            .parse("deployment.tpl", TEMPLATE)
            .expect("it is a template");
        templates
    });
}

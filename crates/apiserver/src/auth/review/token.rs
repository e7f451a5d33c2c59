//! Whose token is this?

use model::{Map, Str, Value};

use super::{Context, Review};
use crate::error::{Error, Result};

pub(super) fn answer(body: &Value, context: &Context<'_>) -> Result<Value> {
    if !context.namespace.is_empty() {
        let message = format!("namespace is not allowed on this type: {}", context.namespace);
        return Err(Error::bad_request(message));
    }
    let token = body.str_at(&["spec", "token"]);
    if token.is_empty() {
        return Err(Error::bad_request(
            "token is required for TokenReview in authentication",
        ));
    }
    let mut audiences: Vec<Str> = body
        .list_at(&["spec", "audiences"])
        .iter()
        .filter_map(Value::as_str)
        .map(Str::new)
        .collect();
    if audiences.is_empty() {
        audiences = context.authenticator.issuer().audiences().to_vec();
    }
    let mut status = Map::new();
    match context
        .authenticator
        .review(token, &audiences, context.now, context.find)
    {
        Ok(accepted) => {
            status.insert("audiences", accepted.audiences.into_iter().collect::<Value>());
            status.insert("authenticated", true);
            status.insert("user", accepted.user.to_value());
        }
        Err(why) => {
            if !why.is_empty() {
                status.insert("error", why);
            }
            status.insert("user", Value::object());
        }
    }
    let mut answer = Review::Token.echo(body);
    answer.set_at(&["status"], status);
    Ok(answer)
}

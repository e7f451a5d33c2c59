//! Keys that are for nothing but tests, and documents.

pub(crate) mod documents;

/// An age identity and its recipient.
pub(crate) const AGE: (&str, &str) = (
    "# created for tests\nAGE-SECRET-KEY-145R5G0Y3EUDZNRFD7Q5WP56KS3CARF6UR2ERHQ88XVWK7F3F0X6S925LCU\n",
    "age1g2w4ztqk6dphg4xwpg4va08ty8v8d3tvzs57gxn6lm4skjheda4sze2wds",
);

//! Upper and lower case, and words joined in one way or another, as `github.com/huandu/xstrings` (1.5) joins them.

use super::{STR, made};
use crate::error::Error;
use crate::function::{Call, Function, Functions};
use crate::unicode::{
    is_digit, is_letter, is_lower, is_space, is_title, is_upper, to_lower, to_title, to_upper,
};
use crate::utf8;
use crate::value::Value;

pub(super) fn add(functions: &mut Functions) {
    functions
        .insert("upper", Function::new(&[STR], |call| mapped(call, to_upper)))
        .insert("lower", Function::new(&[STR], |call| mapped(call, to_lower)))
        .insert(
            "title",
            Function::new(&[STR], |call| {
                let mut before = ' ';
                let text = utf8::map(call.bytes(0), |char| {
                    let starts = is_separator(before);
                    before = char;
                    Some(if starts { to_title(char) } else { char })
                });
                made(call, text)
            }),
        )
        .insert(
            "untitle",
            Function::new(&[STR], |call| {
                let mut starts = true;
                let text = utf8::map(call.bytes(0), |char| {
                    if is_space(char) {
                        starts = true;
                        return Some(char);
                    }
                    Some(if std::mem::take(&mut starts) {
                        to_lower(char)
                    } else {
                        char
                    })
                });
                made(call, text)
            }),
        )
        .insert("swapcase", Function::new(&[STR], swap_case))
        .insert("camelcase", Function::new(&[STR], |call| joined(call, pascal)))
        .insert(
            "snakecase",
            Function::new(&[STR], |call| joined(call, |chars| lower_words(chars, '_'))),
        )
        .insert(
            "kebabcase",
            Function::new(&[STR], |call| joined(call, |chars| lower_words(chars, '-'))),
        );
}

fn mapped(call: &mut Call<'_, '_>, with: fn(char) -> char) -> Result<Value, Error> {
    let text = utf8::map(call.bytes(0), |char| Some(with(char)));
    made(call, text)
}

/// What ends a word for `strings.Title`.
fn is_separator(char: char) -> bool {
    match char {
        '0'..='9' | 'a'..='z' | 'A'..='Z' | '_' => false,
        '\0'..='\x7f' => true,
        _ => !is_letter(char) && !is_digit(char) && is_space(char),
    }
}

fn swap_case(call: &mut Call<'_, '_>) -> Result<Value, Error> {
    let mut starts = true;
    let text = utf8::map(call.bytes(0), |char| {
        Some(if is_upper(char) || is_title(char) {
            starts = false;
            to_lower(char)
        } else if is_lower(char) {
            if std::mem::take(&mut starts) {
                to_title(char)
            } else {
                to_upper(char)
            }
        } else {
            starts = is_space(char);
            char
        })
    });
    made(call, text)
}

fn joined(call: &mut Call<'_, '_>, join: impl FnOnce(&[char]) -> String) -> Result<Value, Error> {
    let chars: Vec<char> = call.str(0).chars().collect();
    let text = join(&chars);
    made(call, text.into_bytes())
}

fn is_connector(char: char) -> bool {
    matches!(char, '-' | '_') || is_space(char)
}

/// `FirstName` of `first_name`. Connectors at the start stay, and so do all but one of those in a row.
fn pascal(chars: &[char]) -> String {
    let start = chars.iter().take_while(|char| is_connector(**char)).count();
    let mut out: String = chars[..start].iter().collect();
    let Some(first) = chars.get(start) else {
        // The library writes the last connector twice.
        out.extend(chars.last());
        return out;
    };
    let mut upper_start = is_upper(*first);
    let mut char = to_upper(*first);
    for next in &chars[start + 1..] {
        let before = char;
        char = *next;
        if is_connector(char) && is_connector(before) {
            out.push(before);
            continue;
        }
        if is_connector(before) {
            upper_start = is_upper(char);
            char = to_upper(char);
            continue;
        }
        if upper_start {
            if is_upper(char) {
                char = to_lower(char);
            } else {
                upper_start = false;
            }
        }
        out.push(before);
    }
    out.push(char);
    out
}

/// What a run of characters is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Word {
    None,
    Number,
    Upper,
    Letters,
    Connector,
    Punctuation,
    Other,
}

fn is_number(char: char) -> bool {
    char.is_numeric()
}

/// A letter that is no Chinese character, as the library tells them apart.
fn is_alphabet(char: char) -> bool {
    is_letter(char) && !matches!(u32::from(char), 0x3400..=0x4db5 | 0x4e00..=0x9fcc | 0x2_0000..=0x2_b81d)
}

/// The first word of a text, and what follows it.
fn next_word(chars: &[char]) -> (Word, &[char], &[char]) {
    let Some(first) = chars.first().copied() else {
        return (Word::None, chars, chars);
    };
    let run = |fits: &dyn Fn(char) -> bool| 1 + chars[1..].iter().take_while(|char| fits(**char)).count();
    let lower_run = |from: usize| {
        from + chars[from..]
            .iter()
            .take_while(|char| is_alphabet(**char) && !is_upper(**char))
            .count()
    };
    let (word, end) = if is_connector(first) {
        (Word::Connector, run(&is_connector))
    } else if crate::unicode::is_punctuation(first) {
        (Word::Punctuation, run(&crate::unicode::is_punctuation))
    } else if is_upper(first) {
        let uppers = run(&is_upper);
        let end = match chars.get(uppers) {
            Some(next) if uppers == 1 && is_alphabet(*next) => lower_run(1),
            // The last of them belongs to the word that follows.
            Some(next) if uppers > 1 && is_alphabet(*next) => uppers - 1,
            _ => uppers,
        };
        (Word::Upper, end)
    } else if is_alphabet(first) {
        (Word::Letters, lower_run(1))
    } else if is_number(first) {
        (Word::Number, run(&is_number))
    } else {
        let is_other = |char| {
            !(is_connector(char)
                || is_alphabet(char)
                || is_number(char)
                || crate::unicode::is_punctuation(char))
        };
        (Word::Other, run(&is_other))
    };
    (word, &chars[..end], &chars[end..])
}

fn push_word(out: &mut String, word: Word, chars: &[char], connector: char) {
    if !matches!(word, Word::Upper | Word::Connector) {
        out.extend(chars);
        return;
    }
    out.extend(chars.iter().map(|char| match *char {
        char if is_connector(char) => connector,
        char if is_upper(char) => to_lower(char),
        char => char,
    }));
}

/// `first_name` of `FirstName`.
fn lower_words(chars: &[char], connector: char) -> String {
    let mut out = String::with_capacity(chars.len() + 8);
    let (mut word, mut part, mut rest) = next_word(chars);
    while !rest.is_empty() {
        if word != Word::Connector {
            push_word(&mut out, word, part, connector);
        }
        let (before, last) = (word, part);
        (word, part, rest) = next_word(rest);
        match before {
            Word::Number => {
                (word, part, rest) = push_run(&mut out, (word, part, rest), connector);
                if !matches!(word, Word::None | Word::Punctuation | Word::Connector) {
                    out.push(connector);
                }
            }
            Word::Connector => push_word(&mut out, before, last, connector),
            Word::Punctuation => {}
            _ if word != Word::Number => {
                if !matches!(word, Word::Connector | Word::Punctuation) {
                    out.push(connector);
                }
            }
            _ if rest.is_empty() => {}
            _ => {
                let number = part;
                (word, part, rest) = next_word(rest);
                if word != Word::Letters {
                    // A number belongs to the word before it.
                    push_word(&mut out, Word::Number, number, connector);
                    if !matches!(word, Word::Connector | Word::Punctuation) {
                        out.push(connector);
                    }
                } else {
                    out.push(connector);
                    push_word(&mut out, Word::Number, number, connector);
                    (word, part, rest) = push_run(&mut out, (word, part, rest), connector);
                    if !matches!(word, Word::None | Word::Connector | Word::Punctuation) {
                        out.push(connector);
                    }
                }
            }
        }
    }
    push_word(&mut out, word, part, connector);
    out
}

type Words<'t> = (Word, &'t [char], &'t [char]);

/// Letters and numbers in a row.
fn push_run<'t>(out: &mut String, words: Words<'t>, connector: char) -> Words<'t> {
    let (mut word, mut part, mut rest) = words;
    while matches!(word, Word::Letters | Word::Number) {
        push_word(out, word, part, connector);
        (word, part, rest) = next_word(rest);
    }
    (word, part, rest)
}

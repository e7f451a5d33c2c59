//! The event stream of libyaml, made safe.
//!
//! libyaml-rs is a translation of the C library with the C interface: it has no safe one. All `unsafe` code of the
//! workspace is in this file.
#![allow(unsafe_code)]

use std::borrow::Cow;
use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::ptr::{self, NonNull};

use libyaml_rs::{
    YAML_ALIAS_EVENT, YAML_DOCUMENT_END_EVENT, YAML_DOCUMENT_START_EVENT, YAML_FLOW_MAPPING_STYLE,
    YAML_FLOW_SEQUENCE_STYLE, YAML_FOLDED_SCALAR_STYLE, YAML_MAPPING_END_EVENT, YAML_MAPPING_START_EVENT,
    YAML_SCALAR_EVENT, YAML_SCANNER_ERROR, YAML_SEQUENCE_END_EVENT, YAML_SEQUENCE_START_EVENT,
    YAML_STREAM_START_EVENT, yaml_event_delete, yaml_event_t, yaml_mark_t, yaml_parser_delete,
    yaml_parser_initialize, yaml_parser_parse, yaml_parser_set_input_string, yaml_parser_t,
};

use crate::Error;

/// One event, valid until the next one is asked for.
pub(crate) struct Event<'e> {
    /// The line it begins on; the first line is 1.
    pub(crate) line: usize,
    /// The bytes of its token, with anchor and tag; a byte order mark at the start of the text does not count.
    pub(crate) span: Range<usize>,
    pub(crate) content: Content<'e>,
    pub(crate) start: Position,
    pub(crate) end: Position,
}

/// A place in a text; both count from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The character of the line.
    pub column: usize,
}

pub(crate) enum Content<'e> {
    StreamStart,
    StreamEnd,
    DocumentStart,
    DocumentEnd,
    Alias(Cow<'e, str>),
    Scalar(Scalar<'e>),
    SequenceStart {
        anchor: Option<Cow<'e, str>>,
        flow: bool,
    },
    SequenceEnd,
    MappingStart {
        anchor: Option<Cow<'e, str>>,
        flow: bool,
    },
    MappingEnd,
}

pub(crate) struct Scalar<'e> {
    pub(crate) anchor: Option<Cow<'e, str>>,
    pub(crate) tag: Option<Cow<'e, str>>,
    pub(crate) text: Cow<'e, str>,
    /// Whether it is written without quotes and without a tag, so that its type follows from its text.
    pub(crate) plain: bool,
    /// Whether it is written as lines after `>`.
    pub(crate) folded: bool,
}

/// The events of one text.
pub(crate) struct Events<'a> {
    /// Allocated by `Box`, initialized, and owned by this struct alone. It holds a pointer to itself and so must not
    /// move; it is only reached through this pointer.
    parser: NonNull<yaml_parser_t>,
    /// The last event. It is all zeros (which is an event of no type) or as `yaml_parser_parse` left it.
    event: yaml_event_t,
    /// The parser reads from the input as long as it lives.
    input: &'a [u8],
}

/// `%TAG` lines are searched one by one for every tag; nobody writes more than a few.
const MAX_TAG_DIRECTIVES: usize = 64;

impl<'a> Events<'a> {
    pub(crate) fn new(input: &'a [u8]) -> Result<Self, Error> {
        if memchr::memmem::find_iter(input, b"%TAG")
            .nth(MAX_TAG_DIRECTIVES)
            .is_some()
        {
            return Err(Error::new(
                1,
                format_args!("more than {MAX_TAG_DIRECTIVES} %TAG directives"),
            ));
        }
        let parser: *mut yaml_parser_t = Box::into_raw(Box::<yaml_parser_t>::new_uninit()).cast();
        // SAFETY: `parser` points to memory for one `yaml_parser_t`, which `yaml_parser_initialize` fills; it cannot
        // fail, for it ends the process when there is no memory. The input outlives the parser by the lifetime `'a`, and
        // its pointer is not null, as no slice's is. All-zero bytes are a valid `yaml_event_t`: event type 0 exists and
        // the rest is numbers, flags, and raw pointers in a union.
        unsafe {
            let _ = yaml_parser_initialize(parser);
            yaml_parser_set_input_string(parser, input.as_ptr(), input.len() as u64);
            let event = MaybeUninit::<yaml_event_t>::zeroed().assume_init();
            Ok(Events {
                parser: NonNull::new_unchecked(parser),
                event,
                input,
            })
        }
    }

    /// The next event. After the end of the stream and after an error there is only the end of the stream.
    pub(crate) fn next(&mut self) -> Result<Event<'_>, Error> {
        let parser = self.parser.as_ptr();
        // SAFETY: the parser is initialized. The event was made by it or is zero, and nothing borrows from it any more,
        // for all that does borrows `self`. `yaml_event_delete` leaves zeros, `yaml_parser_parse` a complete event or,
        // when it fails, zeros.
        let parsed = unsafe {
            yaml_event_delete(&raw mut self.event);
            yaml_parser_parse(parser, &raw mut self.event).ok
        };
        if !parsed {
            return Err(self.failure());
        }
        let event = &self.event;
        // SAFETY: the type of the event tells which field of the union is set. The pointers in it are null or
        // NUL-terminated strings (of the given length, for scalars) that live until `yaml_event_delete`, which needs
        // `&mut self` and so comes after the returned event.
        let content = unsafe {
            match event.type_ {
                YAML_STREAM_START_EVENT => Content::StreamStart,
                YAML_DOCUMENT_START_EVENT => Content::DocumentStart,
                YAML_DOCUMENT_END_EVENT => Content::DocumentEnd,
                YAML_ALIAS_EVENT => Content::Alias(text(event.data.alias.anchor).unwrap_or_default()),
                YAML_SCALAR_EVENT => {
                    let scalar = &event.data.scalar;
                    let bytes = std::slice::from_raw_parts(scalar.value, scalar.length as usize);
                    Content::Scalar(Scalar {
                        anchor: text(scalar.anchor),
                        tag: text(scalar.tag),
                        text: String::from_utf8_lossy(bytes),
                        plain: scalar.plain_implicit,
                        folded: scalar.style == YAML_FOLDED_SCALAR_STYLE,
                    })
                }
                YAML_SEQUENCE_START_EVENT => Content::SequenceStart {
                    anchor: text(event.data.sequence_start.anchor),
                    flow: event.data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE,
                },
                YAML_SEQUENCE_END_EVENT => Content::SequenceEnd,
                YAML_MAPPING_START_EVENT => Content::MappingStart {
                    anchor: text(event.data.mapping_start.anchor),
                    flow: event.data.mapping_start.style == YAML_FLOW_MAPPING_STYLE,
                },
                YAML_MAPPING_END_EVENT => Content::MappingEnd,
                _ => Content::StreamEnd,
            }
        };
        Ok(Event {
            line: line(&event.start_mark) + 1,
            span: event.start_mark.index as usize..event.end_mark.index as usize,
            content,
            start: position(&event.start_mark),
            end: position(&event.end_mark),
        })
    }

    /// The line of the first character that may not stand in YAML: the parser reads ahead, and does not know the line then.
    fn line_of_control_character(&self) -> Option<usize> {
        let text = std::str::from_utf8(self.input).ok()?;
        let is_control = |letter: char| {
            letter.is_control() && !matches!(letter, '\t' | '\n' | '\r' | '\u{85}')
                || matches!(letter, '\u{fffe}' | '\u{ffff}')
        };
        let (before, _) = text.split_once(is_control)?;
        Some(before.matches('\n').count() + 1)
    }

    /// What the parser complains about, with the line that go-yaml would name: only the scanner's lines count from 1,
    /// and line 0 is not named at all.
    fn failure(&self) -> Error {
        // SAFETY: the parser is initialized and nothing else refers to it now. `problem` is null or a string constant.
        let (error, problem, problem_line, context_line) = unsafe {
            let parser = self.parser.as_ref();
            (
                parser.error,
                text(parser.problem.cast()),
                line(&parser.problem_mark),
                line(&parser.context_mark),
            )
        };
        let problem = match problem.as_deref() {
            None => "unknown problem parsing YAML content",
            // go-yaml has kept an old spelling.
            Some("did not find expected hexadecimal number") => "did not find expected hexdecimal number",
            Some(problem) => problem,
        };
        let named = match problem_line {
            0 => context_line,
            line if error == YAML_SCANNER_ERROR => line + 1,
            line => line,
        };
        let control = match problem {
            "control characters are not allowed" => self.line_of_control_character(),
            _ => None,
        };
        let known = match control {
            Some(line) => line,
            None if problem_line > 0 => problem_line + 1,
            None => context_line + 1,
        };
        match named {
            0 => Error::new(known, problem),
            named => Error::new(known, format_args!("line {named}: {problem}")),
        }
    }
}

impl Drop for Events<'_> {
    fn drop(&mut self) {
        let parser = self.parser.as_ptr();
        // SAFETY: event and parser are initialized, and nothing borrows from them any more. The memory of the parser came
        // from a `Box` of `MaybeUninit`, whose content is not dropped; the parser frees what it holds itself.
        unsafe {
            yaml_event_delete(&raw mut self.event);
            yaml_parser_delete(parser);
            drop(Box::<MaybeUninit<yaml_parser_t>>::from_raw(parser.cast()));
        }
    }
}

fn line(mark: &yaml_mark_t) -> usize {
    mark.line as usize
}

fn position(mark: &yaml_mark_t) -> Position {
    Position {
        line: line(mark),
        column: mark.column as usize,
    }
}

/// A C string as text.
///
/// # Safety
///
/// `string` is null or a NUL-terminated string that lives and stays unchanged for `'e`.
unsafe fn text<'e>(string: *const u8) -> Option<Cow<'e, str>> {
    if ptr::eq(string, ptr::null()) {
        return None;
    }
    // SAFETY: by the caller's promise.
    let string = unsafe { CStr::from_ptr(string.cast()) };
    Some(string.to_string_lossy())
}

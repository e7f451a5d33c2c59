//! The names that files and directories of a repository may not have: those that lead out of their directory, those that some
//! system takes for Git's own directory, and those with characters that no line of a list could hold. Flux refuses the same.

/// What is wrong with a name, if anything is.
pub(super) fn problem(name: &str) -> Option<&'static str> {
    if name.bytes().any(|byte| byte < 0x20 || byte == 0x7f) {
        return Some("its name has a control character, such as a line break");
    }
    // On some systems a backslash separates directories too.
    let mut parts = name.split('\\');
    let leads_out = |part: &str| matches!(part, "." | "..");
    if name.is_empty() || name.contains('/') || parts.clone().any(leads_out) || parts.all(str::is_empty) {
        return Some("it leads out of its directory");
    }
    if name.split('\\').any(is_dot_git) {
        return Some("it has the name that Git keeps for itself");
    }
    None
}

/// Whether some system takes this name for `.git`: Windows does so with its short form, and without regard to spaces, dots and
/// streams after it; macOS without regard to characters that are not seen.
fn is_dot_git(part: &str) -> bool {
    let seen: String;
    let part = if part.is_ascii() {
        part
    } else {
        seen = part.chars().filter(|letter| !is_unseen(*letter)).collect();
        &seen
    };
    let after = [".git", "git~1"].into_iter().find_map(|own| {
        let (start, rest) = part.split_at_checked(own.len())?;
        start.eq_ignore_ascii_case(own).then_some(rest)
    });
    after.is_some_and(|rest| rest.trim_start_matches([' ', '.']).is_empty() || is_stream(rest))
}

/// Whether nothing but spaces and dots stand before a colon.
fn is_stream(rest: &str) -> bool {
    rest.trim_start_matches([' ', '.']).starts_with(':')
}

/// The characters that macOS leaves out of names.
fn is_unseen(letter: char) -> bool {
    matches!(letter, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checked against go-git 5.19, which Flux uses.
    #[test]
    fn names_that_flux_refuses_are_refused() {
        for name in [
            "a\nb",
            "a\rb",
            "a\tb",
            "\u{1b}[31m",
            "a\u{7f}",
            "",
            ".",
            "..",
            "a/b",
            "\\",
            "a\\..\\b",
            ".git",
            ".GIT",
            ".git .",
            ".git::$INDEX_ALLOCATION",
            "git~1",
            "GIT~1 ",
            ".g\u{200c}it",
            "\u{feff}.git",
            "a\\.git\\config",
        ] {
            assert!(problem(name).is_some(), "{name:?}");
        }
        for name in [
            ".gitignore",
            ".gitmodules",
            "git",
            "git~2",
            "größe",
            "a b",
            "..a",
            "a..",
            ".github",
            "a\\b",
            ".gi",
        ] {
            assert_eq!(problem(name), None, "{name:?}");
        }
    }
}

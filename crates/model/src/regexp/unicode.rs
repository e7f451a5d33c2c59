//! Sets of characters that have a name in Unicode.

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, HirKind};

/// The names of the general categories that Go knows, and their other names. Case, spaces, `_` and `-` do not matter.
#[rustfmt::skip]
const CATEGORIES: [(&str, &str); 80] = [
    ("C", "C"), ("Cc", "Cc"), ("Cf", "Cf"), ("Cn", "Cn"), ("Co", "Co"), ("Cs", "Cs"), ("L", "L"), ("LC", "LC"),
    ("Ll", "Ll"), ("Lm", "Lm"), ("Lo", "Lo"), ("Lt", "Lt"), ("Lu", "Lu"), ("M", "M"), ("Mc", "Mc"), ("Me", "Me"),
    ("Mn", "Mn"), ("N", "N"), ("Nd", "Nd"), ("Nl", "Nl"), ("No", "No"), ("P", "P"), ("Pc", "Pc"), ("Pd", "Pd"),
    ("Pe", "Pe"), ("Pf", "Pf"), ("Pi", "Pi"), ("Po", "Po"), ("Ps", "Ps"), ("S", "S"), ("Sc", "Sc"), ("Sk", "Sk"),
    ("Sm", "Sm"), ("So", "So"), ("Z", "Z"), ("Zl", "Zl"), ("Zp", "Zp"), ("Zs", "Zs"), ("CasedLetter", "LC"),
    ("ClosePunctuation", "Pe"), ("CombiningMark", "M"), ("ConnectorPunctuation", "Pc"), ("Control", "Cc"),
    ("CurrencySymbol", "Sc"), ("DashPunctuation", "Pd"), ("DecimalNumber", "Nd"), ("EnclosingMark", "Me"),
    ("FinalPunctuation", "Pf"), ("Format", "Cf"), ("InitialPunctuation", "Pi"), ("Letter", "L"), ("LetterNumber", "Nl"),
    ("LineSeparator", "Zl"), ("LowercaseLetter", "Ll"), ("Mark", "M"), ("MathSymbol", "Sm"), ("ModifierLetter", "Lm"),
    ("ModifierSymbol", "Sk"), ("NonspacingMark", "Mn"), ("Number", "N"), ("OpenPunctuation", "Ps"), ("Other", "C"),
    ("OtherLetter", "Lo"), ("OtherNumber", "No"), ("OtherPunctuation", "Po"), ("OtherSymbol", "So"),
    ("ParagraphSeparator", "Zp"), ("PrivateUse", "Co"), ("Punctuation", "P"), ("Separator", "Z"),
    ("SpaceSeparator", "Zs"), ("SpacingMark", "Mc"), ("Surrogate", "Cs"), ("Symbol", "S"), ("TitlecaseLetter", "Lt"),
    ("Unassigned", "Cn"), ("UppercaseLetter", "Lu"), ("cntrl", "Cc"), ("digit", "Nd"), ("punct", "P"),
];

/// The scripts of Unicode 15.0, which is what Go knows.
const SCRIPTS: &str = "Adlam Ahom AnatolianHieroglyphs Arabic Armenian Avestan Balinese Bamum BassaVah Batak Bengali \
    Bhaiksuki Bopomofo Brahmi Braille Buginese Buhid CanadianAboriginal Carian CaucasianAlbanian Chakma Cham Cherokee \
    Chorasmian Common Coptic Cuneiform Cypriot CyproMinoan Cyrillic Deseret Devanagari DivesAkuru Dogra Duployan \
    EgyptianHieroglyphs Elbasan Elymaic Ethiopic Georgian Glagolitic Gothic Grantha Greek Gujarati GunjalaGondi Gurmukhi \
    Han Hangul HanifiRohingya Hanunoo Hatran Hebrew Hiragana ImperialAramaic Inherited InscriptionalPahlavi \
    InscriptionalParthian Javanese Kaithi Kannada Katakana Kawi KayahLi Kharoshthi KhitanSmallScript Khmer Khojki Khudawadi \
    Lao Latin Lepcha Limbu LinearA LinearB Lisu Lycian Lydian Mahajani Makasar Malayalam Mandaic Manichaean Marchen \
    MasaramGondi Medefaidrin MeeteiMayek MendeKikakui MeroiticCursive MeroiticHieroglyphs Miao Modi Mongolian Mro Multani \
    Myanmar Nabataean NagMundari Nandinagari NewTaiLue Newa Nko Nushu NyiakengPuachueHmong Ogham OlChiki OldHungarian \
    OldItalic OldNorthArabian OldPermic OldPersian OldSogdian OldSouthArabian OldTurkic OldUyghur Oriya Osage Osmanya \
    PahawhHmong Palmyrene PauCinHau PhagsPa Phoenician PsalterPahlavi Rejang Runic Samaritan Saurashtra Sharada Shavian \
    Siddham SignWriting Sinhala Sogdian SoraSompeng Soyombo Sundanese SylotiNagri Syriac Tagalog Tagbanwa TaiLe TaiTham \
    TaiViet Takri Tamil Tangsa Tangut Telugu Thaana Thai Tibetan Tifinagh Tirhuta Toto Ugaritic Vai Vithkuqi Wancho \
    WarangCiti Yezidi Yi ZanabazarSquare";

/// The characters of a category or script.
pub(super) fn named(name: &str) -> Option<ClassUnicode> {
    let name: String = name.chars().filter(|char| !"_- ".contains(*char)).collect();
    let is = |known: &str| known.eq_ignore_ascii_case(&name);
    match () {
        () if is("Any") => return Some(ClassUnicode::new([ClassUnicodeRange::new('\0', char::MAX)])),
        () if is("ASCII") => return Some(ClassUnicode::new([ClassUnicodeRange::new('\0', '\x7f')])),
        () if is("Assigned") => {
            let mut unassigned = property("gc", "Cn")?;
            unassigned.negate();
            return Some(unassigned);
        }
        () => {}
    }
    if let Some((_, category)) = CATEGORIES.iter().find(|(known, _)| is(known)) {
        return match *category {
            // Halves of surrogate pairs are in no text.
            "Cs" => Some(ClassUnicode::empty()),
            category => property("gc", category),
        };
    }
    let script = SCRIPTS.split_ascii_whitespace().find(|script| is(script))?;
    property("sc", script)
}

fn property(property: &str, value: &str) -> Option<ClassUnicode> {
    let parsed = regex_syntax::parse(&format!(r"\p{{{property}={value}}}")).ok()?;
    match parsed.into_kind() {
        HirKind::Class(Class::Unicode(class)) => Some(class),
        // A set of one.
        HirKind::Literal(text) => {
            let char = str::from_utf8(&text.0).ok()?.chars().next()?;
            Some(ClassUnicode::new([ClassUnicodeRange::new(char, char)]))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_leads_to_characters() {
        let categories = CATEGORIES.iter().map(|(name, _)| *name);
        for name in categories
            .chain(SCRIPTS.split_ascii_whitespace())
            .filter(|name| !["Cs", "Surrogate"].contains(name))
        {
            assert!(
                named(name).is_some_and(|class| !class.ranges().is_empty()),
                "{name}"
            );
        }
        assert!(named("Cs").is_some_and(|class| class.ranges().is_empty()));
    }
}

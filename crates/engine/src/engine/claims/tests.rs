use super::*;

fn key(name: &str) -> ObjectKey {
    ObjectKey {
        group: "".into(),
        kind: "ConfigMap".into(),
        namespace: "shop".into(),
        name: name.into(),
    }
}

fn set(claims: &Claims, unit: &str, wants: &[&str], has: &[&str]) -> Vec<String> {
    let keys = |names: &[&str]| names.iter().map(|name| key(name)).collect::<Vec<_>>();
    let listed = || keys(wants).into_iter().map(|key| (key, true));
    let mut concerned = claims.set(unit, "here", listed(), keys(has).into_iter());
    concerned.extend(claims.judged(unit, listed()));
    let mut concerned: Vec<_> = concerned.iter().map(ToString::to_string).collect();
    concerned.sort();
    concerned
}

fn sharing(claims: &Claims, unit: &str, name: &str) -> Option<(String, bool, bool)> {
    let shared = claims.shared(unit).remove(&key(name))?;
    Some((shared.unit, shared.has, shared.holds))
}

#[test]
fn who_has_applied_an_object_last_holds_it_until_it_wants_it_no_more() {
    let claims = Claims::default();
    assert!(set(&claims, "a", &["x"], &["x"]).is_empty());
    assert_eq!(set(&claims, "b", &["x"], &[]), ["a"], "somebody else wants it");
    assert!(set(&claims, "b", &["x"], &[]).is_empty(), "that is known");
    assert_eq!(sharing(&claims, "a", "x"), Some(("b".to_owned(), false, false)));
    assert_eq!(sharing(&claims, "b", "x"), Some(("a".to_owned(), true, true)));
    claims.take("b", &key("x"), false);
    assert!(
        set(&claims, "b", &["x"], &[]).is_empty(),
        "its inventory comes later"
    );
    assert_eq!(sharing(&claims, "a", "x"), Some(("b".to_owned(), false, true)));
    assert_eq!(set(&claims, "b", &["x"], &["x"]), ["a"], "there it is");
    assert_eq!(sharing(&claims, "a", "x"), Some(("b".to_owned(), true, true)));
    assert_eq!(sharing(&claims, "b", "x"), Some(("a".to_owned(), true, false)));
    assert_eq!(
        set(&claims, "a", &["x"], &[]),
        ["b"],
        "it is not in its inventory any more"
    );
    assert_eq!(sharing(&claims, "b", "x"), Some(("a".to_owned(), false, false)));
    assert_eq!(set(&claims, "b", &[], &["x"]), ["a"]);
    assert_eq!(sharing(&claims, "a", "x"), None, "who leaves it has no say");
    assert_eq!(claims.wanted_by_another("b", &key("x")).as_deref(), Some("a"));
}

#[test]
fn what_a_unit_had_counts_as_wanted_until_it_is_known_what_it_wants() {
    let claims = Claims::default();
    claims.had(
        "b",
        "here",
        [(key("x"), true)].into_iter(),
        [key("y")].into_iter(),
    );
    set(&claims, "a", &[], &["x", "y"]);
    assert_eq!(claims.wanted_by_another("a", &key("x")).as_deref(), Some("b"));
    assert_eq!(sharing(&claims, "a", "y"), Some(("b".to_owned(), false, false)));
    assert_eq!(set(&claims, "b", &[], &["x"]), ["a"]);
    assert_eq!(claims.wanted_by_another("a", &key("x")), None);
    claims.had(
        "b",
        "here",
        [(key("x"), true)].into_iter(),
        [key("y")].into_iter(),
    );
    assert_eq!(
        claims.wanted_by_another("a", &key("x")),
        None,
        "more is known than that"
    );
}

#[test]
fn a_namespace_is_kept_for_what_others_want_in_it_and_who_has_it_hears_when_they_have_left() {
    let claims = Claims::default();
    let space = namespace_of(&key("x"));
    let none = std::iter::empty::<(ObjectKey, bool)>;
    claims.set(
        "a",
        "here",
        [(space.clone(), true)].into_iter(),
        [space.clone()].into_iter(),
    );
    set(&claims, "b", &["x", "y"], &[]);
    assert!(claims.shared("a").is_empty(), "it wants it itself");
    claims.set("a", "here", none(), [space.clone()].into_iter());
    assert_eq!(claims.shared("a")[&space].unit, "b");
    assert_eq!(claims.wanted_by_another("a", &space).as_deref(), Some("b"));
    assert_eq!(set(&claims, "b", &["y"], &[]), ["a"]);
    assert_eq!(claims.wanted_by_another("a", &space).as_deref(), Some("b"));
    assert_eq!(set(&claims, "b", &[], &[]), ["a"]);
    assert_eq!(claims.wanted_by_another("a", &space), None);
    assert!(claims.shared("a").is_empty());
}

#[test]
fn hooks_of_the_same_name_are_nobodys_for_good() {
    let claims = Claims::default();
    let hook = || [(key("x"), false)].into_iter();
    claims.set("a", "here", hook(), std::iter::empty());
    claims.set("b", "here", hook(), std::iter::empty());
    let accepted = || [(key("x"), true)].into_iter();
    claims.judged("a", accepted());
    claims.judged("b", accepted());
    assert_eq!(claims.lasts_for_another("a", &key("x")), None);
    claims.take("b", &key("x"), false);
    assert_eq!(claims.lasts_for_another("a", &key("x")), None);
    set(&claims, "c", &["x"], &[]);
    assert_eq!(claims.lasts_for_another("a", &key("x")).as_deref(), Some("c"));
    assert!(claims.in_group("a", "").contains_key("ConfigMap"));
    set(&claims, "c", &[], &["x"]);
    assert_eq!(
        claims.lasts_for_another("a", &key("x")),
        None,
        "it is about to go"
    );
}

#[test]
fn a_unit_that_moves_or_goes_leaves_nothing_behind() {
    let claims = Claims::default();
    set(&claims, "a", &["x", "y"], &[]);
    set(&claims, "b", &["y"], &[]);
    let moved = claims.set("a", "there", [(key("x"), true)].into_iter(), std::iter::empty());
    assert_eq!(moved.len(), 1);
    assert!(claims.of("here", &key("x")).is_empty());
    assert_eq!(claims.of("there", &key("x")).len(), 1);
    assert_eq!(claims.of("here", &key("y")).len(), 1);
    assert!(claims.forget("a").is_empty() && claims.forget("b").is_empty());
    let index = claims.index.lock();
    assert!(index.objects.is_empty() && index.units.is_empty());
}

#[test]
fn what_the_server_has_not_accepted_from_a_unit_counts_for_nothing() {
    let claims = Claims::default();
    let list = |unit: &str, name: &str, lasts| {
        claims.set(unit, "here", [(key(name), lasts)].into_iter(), std::iter::empty())
    };
    let judge = |unit: &str, name: &str, is_accepted| {
        let concerned = claims.judged(unit, [(key(name), is_accepted)].into_iter());
        concerned
            .into_iter()
            .map(|unit| unit.to_string())
            .collect::<Vec<_>>()
    };
    set(&claims, "owner", &[], &["x"]);
    for lasts in [true, false] {
        assert!(list("other", "x", lasts).is_empty(), "the owner is not bothered");
        assert_eq!(claims.wanted_by_another("owner", &key("x")), None);
        assert_eq!(claims.kind_wanted_by_another("owner", "", "ConfigMap"), None);
        assert!(claims.in_group("owner", "").is_empty() && claims.shared("owner").is_empty());
        claims.take("other", &key("x"), false);
        assert_eq!(
            claims.wanted_by_another("owner", &key("x")),
            None,
            "it only tries to"
        );
        assert!(judge("other", "x", false).is_empty());
        assert_eq!(judge("other", "x", true), ["owner"]);
        assert_eq!(
            claims.wanted_by_another("owner", &key("x")).as_deref(),
            Some("other")
        );
        assert!(list("other", "x", lasts).is_empty(), "it stays accepted");
        assert_eq!(
            judge("other", "x", false),
            ["owner"],
            "its rights were taken away"
        );
        assert_eq!(claims.wanted_by_another("owner", &key("x")), None);
    }
    list("other", "x", true);
    claims.take("other", &key("x"), true);
    assert!(judge("other", "x", false).is_empty(), "it has applied it");
    assert_eq!(
        sharing(&claims, "owner", "x"),
        Some(("other".to_owned(), false, true))
    );
}

#[test]
fn who_leaves_a_namespace_hears_that_nothing_in_it_is_accepted_any_more() {
    let claims = Claims::default();
    let space = namespace_of(&key("x"));
    let none = std::iter::empty::<(ObjectKey, bool)>;
    claims.set("a", "here", none(), [space.clone()].into_iter());
    set(&claims, "b", &["x"], &[]);
    assert_eq!(claims.wanted_by_another("a", &space).as_deref(), Some("b"));
    let concerned = claims.judged("b", [(key("x"), false)].into_iter());
    assert_eq!(concerned.into_iter().collect::<Vec<_>>(), [Arc::from("a")]);
    assert_eq!(claims.wanted_by_another("a", &space), None);
}

#[test]
fn an_inventory_alone_gives_no_say() {
    let claims = Claims::default();
    let skips = || {
        let (listed, recorded) = ([(key("x"), true)], [key("x")]);
        claims.set("other", "here", listed.into_iter(), recorded.into_iter())
    };
    claims.had(
        "other",
        "here",
        [(key("x"), false)].into_iter(),
        std::iter::empty(),
    );
    set(&claims, "owner", &[], &["x"]);
    assert_eq!(claims.wanted_by_another("owner", &key("x")), None);
    skips();
    assert_eq!(claims.wanted_by_another("owner", &key("x")), None);
    assert_eq!(claims.without_say("other", [key("x")].iter()), [key("x")]);
    assert_eq!(
        claims.unproven("owner", &key("x")),
        [(Arc::from("other"), key("x"))]
    );
    assert_eq!(claims.unproven("owner", &namespace_of(&key("x"))).len(), 1);
    assert_eq!(claims.may_write("other", key("x")).len(), 1);
    assert!(claims.unproven("owner", &key("x")).is_empty(), "it has a say");
    skips();
    assert_eq!(
        sharing(&claims, "owner", "x"),
        Some(("other".to_owned(), false, false)),
        "it has not applied it"
    );
    claims.take("other", &key("x"), true);
    assert_eq!(
        sharing(&claims, "owner", "x"),
        Some(("other".to_owned(), true, true))
    );
}

#[tokio::test(start_paused = true)]
async fn what_is_in_doubt_stays_for_a_while() {
    let claims = Claims::default();
    set(&claims, "owner", &[], &["x", "y"]);
    claims.doubt("owner", key("x"), Arc::from("other"));
    assert_eq!(
        claims.wanted_by_another("owner", &key("x")).as_deref(),
        Some("other")
    );
    assert_eq!(
        sharing(&claims, "owner", "x"),
        Some(("other".to_owned(), false, false)),
        "it stays in the inventory"
    );
    assert_eq!(claims.wanted_by_another("owner", &key("y")), None);
    tokio::time::advance(DOUBT).await;
    assert_eq!(claims.wanted_by_another("owner", &key("x")), None);
    claims.doubt("owner", key("x"), Arc::from("other"));
    claims.forget("owner");
    assert_eq!(claims.kept(), 0);
}

/// A claim that the server never answers kept an object for ever.
#[tokio::test(start_paused = true)]
async fn a_doubt_that_is_renewed_ends_after_an_hour() {
    let claims = Claims::default();
    let doubt = |name: &str| claims.doubt("owner", key(name), Arc::from("other"));
    set(&claims, "owner", &[], &["x", "y"]);
    let began = Instant::now();
    while doubt("x") {
        assert!(claims.wanted_by_another("owner", &key("x")).is_some());
        // The next look may come much later.
        tokio::time::advance(DOUBT * 7).await;
    }
    assert!(began.elapsed() >= LONGEST_DOUBT);
    assert_eq!(claims.wanted_by_another("owner", &key("x")), None);
    assert!(doubt("y"), "another object is another matter");
    claims.end_doubt("owner", &key("x"));
    assert!(doubt("x"), "the server had answered in between");
    tokio::time::advance(LONGEST_DOUBT).await;
    set(&claims, "owner", &[], &["y"]);
    set(&claims, "owner", &[], &["x", "y"]);
    assert!(doubt("x"), "the unit did not have it in between");
    assert!(!doubt("y"));
}

#[tokio::test(start_paused = true)]
async fn a_refusal_counts_for_a_minute_and_for_the_same_claim_of_the_same_unit_only() {
    let claims = Claims::default();
    let digest = |text: &str| crate::plan::objects::digest(&model::Value::from(text));
    let record = |names: &[&str]| {
        let has: Vec<_> = names.iter().map(|name| (key(name), true)).collect();
        claims.set(
            "a",
            "here",
            has.clone().into_iter(),
            has.into_iter().map(|(key, _)| key),
        );
    };
    let is_refused = |basis: &str| claims.is_refused("a", &key("x"), digest(basis));
    record(&["x", "y"]);
    claims.refuse("a", &key("x"), digest("one"));
    claims.refuse("a", &key("unclaimed"), digest("one"));
    assert!(
        is_refused("one") && !is_refused("two"),
        "another identity is asked about anew"
    );
    assert!(!claims.is_refused("a", &key("y"), digest("one")));
    assert!(!claims.is_refused("a", &key("unclaimed"), digest("one")));
    record(&["x"]);
    assert!(is_refused("one"), "another claim has changed");
    record(&[]);
    record(&["x"]);
    assert!(!is_refused("one"), "the claim is a new one");
    claims.refuse("a", &key("x"), digest("one"));
    tokio::time::advance(REFUSED).await;
    assert!(!is_refused("one"), "that was long ago");
    claims.refuse("a", &key("x"), digest("one"));
    claims.forget("a");
    assert!(!is_refused("one"));
}

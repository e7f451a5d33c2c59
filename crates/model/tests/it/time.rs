use model::Time;

#[test]
fn times_are_utc_and_whole_seconds() {
    for text in [
        "2026-01-02T03:04:05Z",
        "2026-01-02T03:04:05.999999Z",
        "2026-01-02T05:04:05+02:00",
    ] {
        assert_eq!(text.parse::<Time>().unwrap().to_string(), "2026-01-02T03:04:05Z");
    }
    assert_eq!(
        "1969-12-31T23:59:58.5Z".parse::<Time>().unwrap().to_string(),
        "1969-12-31T23:59:58Z"
    );
}

#[test]
fn what_is_no_time_is_refused() {
    let error = "yesterday".parse::<Time>().unwrap_err();
    assert_eq!(error.to_string(), r#""yesterday" is no RFC 3339 time"#);
    assert!(std::error::Error::source(&error).is_some());
    assert!("2026-13-02T03:04:05Z".parse::<Time>().is_err());
    assert!("2026-01-02T03:04:05".parse::<Time>().is_err());
}

#[test]
fn a_time_is_a_string_in_json() {
    let time: Time = serde_json::from_str(r#""2026-01-02T03:04:05Z""#).unwrap();
    assert_eq!(serde_json::to_string(&time).unwrap(), r#""2026-01-02T03:04:05Z""#);
}

use model::Health;
use model::health::State;

#[test]
fn the_worst_state_counts() {
    assert_eq!(
        State::worst([State::Healthy, State::Degraded, State::Progressing]),
        State::Degraded
    );
    assert_eq!(State::worst([State::Progressing, State::Missing]), State::Missing);
    assert_eq!(State::worst([State::Suspended, State::Healthy]), State::Suspended);
    assert_eq!(State::worst([]), State::Healthy);
}

#[test]
fn every_state_has_a_name_in_kstatus_and_in_argo_cd() {
    let kstatus = [
        "Current",
        "Current",
        "InProgress",
        "Terminating",
        "NotFound",
        "Failed",
        "Unknown",
    ];
    assert_eq!(State::ALL.map(State::kstatus), kstatus);
    let argo = [
        "Healthy",
        "Suspended",
        "Progressing",
        "Progressing",
        "Missing",
        "Degraded",
        "Unknown",
    ];
    assert_eq!(State::ALL.map(State::argo), argo);
}

#[test]
fn both_names_are_read() {
    for state in State::ALL {
        assert_eq!(state.to_string().parse(), Ok(state));
        if state != State::Suspended {
            assert_eq!(state.kstatus().parse(), Ok(state));
        }
    }
    assert_eq!(
        "Fine".parse::<State>().unwrap_err().to_string(),
        r#""Fine" is no health state"#
    );
}

#[test]
fn health_is_read_from_json_in_either_words() {
    let read = |text: &str| serde_json::from_str::<Health>(text).unwrap();
    assert_eq!(
        read(r#"{"state":"Failed","message":"no"}"#),
        Health::because(State::Degraded, "no")
    );
    assert_eq!(read(r#"{"state":"Healthy"}"#), Health::new(State::Healthy));
    assert_eq!(
        serde_json::to_string(&Health::new(State::Missing)).unwrap(),
        r#"{"state":"Missing"}"#
    );
}

//! The relation of one unit to one object, and who counts.

/// The relation of a unit to an object.
///
/// Whoever writes a manifest can list any object in it, also one that the unit may not touch. A unit therefore has no say about an
/// object before the server has accepted that object from it, by a dry run or by an apply. An inventory alone is no proof: it also
/// records objects that the unit skips.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// Its manifests list it, for good or as a hook, or its inventory records it. The server has not accepted it from this unit, so
    /// this counts for nothing.
    Lists { lasts: bool, recorded: bool },
    /// Its inventory records it, and the server would let the unit write it. It need not have applied it, so it never holds it.
    MayWrite,
    /// It is in its inventory. Whether it still wants it is not known: it was not built since we run.
    Had,
    /// It wants it for a while, as a hook.
    Runs,
    /// It wants it.
    Wants,
    /// It wants it and has applied it. Its inventory does not say so: its operation has not ended, or another has applied it since.
    Applied,
    /// It wants it and has it.
    Has,
    /// It has it, and does not want it any more.
    Leaves,
}

impl Standing {
    /// That of an object which is in an inventory that nothing else speaks for.
    pub(super) const UNPROVEN: Standing = Standing::Lists {
        lasts: true,
        recorded: true,
    };

    /// Whether it is of interest to other units.
    pub(super) fn counts(self) -> bool {
        !matches!(self, Standing::Lists { .. })
    }

    pub(super) fn wants(self) -> bool {
        self.counts() && self != Standing::Leaves
    }

    /// Whether it is to be there for good.
    pub(super) fn lasts(self) -> bool {
        self.wants() && self != Standing::Runs
    }

    pub(super) fn has(self) -> bool {
        matches!(self, Standing::Had | Standing::Has)
    }

    pub(super) fn may_hold(self) -> bool {
        self.has() || self == Standing::Applied
    }

    /// Whether the inventory of the unit is all that speaks for it.
    pub(super) fn is_unproven(self) -> bool {
        matches!(self, Standing::Lists { recorded: true, .. })
    }

    /// The standing of an object that the manifests list, after this one. `recorded` says whether the inventory has it too.
    pub(super) fn listed(before: Option<Standing>, lasts: bool, recorded: bool) -> Standing {
        match (before, lasts) {
            (Some(Standing::MayWrite), _) if recorded => Standing::MayWrite,
            (Some(before), _) if recorded && before.wants() => Standing::Has,
            _ if recorded => Standing::Lists { lasts, recorded },
            (Some(Standing::Has | Standing::Applied), true) => Standing::Applied,
            (Some(before), true) if before.lasts() => Standing::Wants,
            (Some(before), false) if before.wants() => Standing::Runs,
            _ => Standing::Lists { lasts, recorded },
        }
    }

    /// The standing once the server has accepted the object from the unit in a dry run.
    pub(super) fn accepted(self) -> Standing {
        match self {
            Standing::Lists { recorded: true, .. } | Standing::MayWrite => Standing::Has,
            Standing::Lists { lasts: true, .. } => Standing::Wants,
            Standing::Lists { lasts: false, .. } => Standing::Runs,
            other => other,
        }
    }

    /// The standing once the server has refused the object from the unit in a dry run. What the unit has applied stays its own.
    pub(super) fn refused(self) -> Standing {
        match self {
            Standing::Wants => Standing::Lists {
                lasts: true,
                recorded: false,
            },
            Standing::Runs => Standing::Lists {
                lasts: false,
                recorded: false,
            },
            Standing::MayWrite => Standing::UNPROVEN,
            other => other,
        }
    }
}

//! What is not certain about a resource after a mistake, so that other mistakes may only follow from that.

use super::Resource;

/// Reasons for doubt, in one byte: there may be very many resources, and nearly all builds have no mistakes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Doubt(u8);

impl Doubt {
    /// A change of the transformer that runs has failed.
    const FAILED: u8 = 1;
    /// It lacks a change.
    const CHANGE: u8 = 2;
    /// It should perhaps be gone: what was lost may have deleted it.
    const GONE: u8 = 4;
    /// It should perhaps have another name or kind, and another namespace.
    const NAME: u8 = 8;
    /// It should perhaps have another namespace.
    const NAMESPACE: u8 = 16;

    fn has(self, reasons: u8) -> bool {
        self.0 & reasons != 0
    }

    fn add(&mut self, reasons: u8) {
        self.0 |= reasons;
    }
}

impl Resource {
    /// Whether a change to it was lost through a mistake, so that what is wrong with it may follow from that.
    pub(crate) fn is_unsure(&self) -> bool {
        self.doubt.has(Doubt::CHANGE)
    }

    /// Whether there should perhaps be no resource of this name.
    pub(crate) fn may_be_another(&self) -> bool {
        self.doubt.has(Doubt::GONE | Doubt::NAME | Doubt::NAMESPACE)
    }

    /// Whether it should perhaps have another name.
    pub(crate) fn may_have_other_name(&self) -> bool {
        self.doubt.has(Doubt::NAME)
    }

    /// Whether it should perhaps have another namespace.
    pub(crate) fn may_have_other_namespace(&self) -> bool {
        self.doubt.has(Doubt::NAMESPACE)
    }

    /// Notes that a change to it was lost.
    pub(crate) fn lose_change(&mut self) {
        self.doubt.add(Doubt::CHANGE);
    }

    /// Notes that something was lost that may have deleted it.
    pub(crate) fn lose_deletion(&mut self) {
        self.doubt.add(Doubt::GONE);
    }

    /// Notes that something was lost that may have given it another name.
    pub(crate) fn lose_name(&mut self) {
        self.doubt.add(Doubt::NAME);
    }

    /// Notes that something was lost that may have given it another namespace. A namespace itself would have got another
    /// name.
    pub(crate) fn lose_namespace(&mut self) {
        self.doubt.add(match self.kind() {
            "Namespace" => Doubt::NAME,
            _ => Doubt::NAMESPACE,
        });
    }

    /// Notes that a change to it failed. Others that the same transformer makes have nothing to do with that.
    pub(crate) fn fail_change(&mut self) {
        self.doubt.add(Doubt::FAILED);
    }

    /// What is wrong with a change to it, unless that may follow from one that was lost before.
    pub(crate) fn refuse<P>(&mut self, problem: P) -> Option<P> {
        self.fail_change();
        (!self.is_unsure()).then_some(problem)
    }

    /// Notes that a transformer is done with it.
    pub(crate) fn settle(&mut self) {
        if self.doubt.has(Doubt::FAILED) {
            self.doubt.0 &= !Doubt::FAILED;
            self.lose_change();
        }
    }

    /// Takes over what is not certain about the resource whose place it takes.
    pub(super) fn doubt_as(&mut self, old: &Resource) {
        self.doubt.add(old.doubt.0);
    }
}

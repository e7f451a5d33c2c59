//! What can be wrong with a pack.

/// How the next pack that a repository sends is broken. It works whatever carries the
/// conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PackFault {
    /// One bit is wrong.
    Corrupted,
    /// Half of it is missing, though the conversation ends in good order.
    Truncated,
    /// The server gives up with a message, as it does when it runs out of memory.
    Failed(String),
}

impl PackFault {
    /// The pack as it is sent, or the message in its place.
    pub(crate) fn apply(&self, mut pack: Vec<u8>) -> Result<Vec<u8>, String> {
        match self {
            Self::Corrupted => {
                let middle = pack.len() / 2;
                pack[middle] ^= 1;
                Ok(pack)
            }
            Self::Truncated => {
                pack.truncate(pack.len() / 2);
                Ok(pack)
            }
            Self::Failed(message) => Err(message.clone()),
        }
    }
}

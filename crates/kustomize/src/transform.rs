//! What transformers have in common.

use crate::resmap::ResMap;
use crate::schema::Schema;

/// Changes resources.
pub(crate) trait Transform {
    /// Does what it is for. The error says what is wrong; where it was asked for is known to the caller.
    fn transform(&self, resources: &mut ResMap, schema: &Schema) -> Result<(), String>;
}

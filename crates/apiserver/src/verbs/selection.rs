//! Which objects of a resource a list, a watch or a collective deletion is about.

use model::selector::{FieldRequirement, FieldSelector, LabelSelector};

use super::Call;
use crate::error::{Error, Result};
use crate::store::Object;

/// Label and field selectors.
pub(crate) struct Selection {
    labels: LabelSelector,
    fields: FieldSelector,
}

impl Selection {
    /// Reads the selectors of a request.
    ///
    /// # Errors
    /// `BadRequest` for selectors that make no sense or ask for fields that cannot be selected by.
    pub(crate) fn read(call: &Call<'_>) -> Result<Self> {
        let query = &call.request.query;
        let unreadable = |error: model::selector::Error| Error::bad_request(error.to_string());
        let labels: LabelSelector = query.get("labelSelector").parse().map_err(unreadable)?;
        let mut fields: FieldSelector = query.get("fieldSelector").parse().map_err(unreadable)?;
        for requirement in &mut fields.requirements {
            let name = call
                .served
                .strategy
                .field_label(&requirement.field)
                .map_err(Error::bad_request)?;
            requirement.field = name.to_owned();
        }
        Ok(Selection { labels, fields })
    }

    /// Whether the object is meant.
    pub(crate) fn matches(&self, object: &Object) -> bool {
        self.labels.matches(|key| object.label(key)) && self.fields.matches(|key| object.field(key))
    }

    /// Whether all objects are meant.
    pub(crate) fn is_empty(&self) -> bool {
        self.labels.is_everything() && self.fields.requirements.is_empty()
    }

    /// Narrows the selection to one name.
    pub(crate) fn only(&mut self, name: &str) {
        let field = "metadata.name".to_owned();
        self.fields.requirements.push(FieldRequirement {
            field,
            negated: false,
            value: name.to_owned(),
        });
    }
}

//! Which attributes an index shows.

use stonecrop_dynamodb::value::Item;

use super::about::{IndexAbout, Projected};
use super::known::Known;

impl Known {
    /// Whether an index shows an attribute.
    pub(super) fn shows(&self, index: &IndexAbout, attribute: &str) -> bool {
        let is_key = self.is_key(attribute) || index.key().any(|name| name == attribute);
        is_key
            || match &index.projection {
                Projected::All => true,
                Projected::Keys => false,
                Projected::Include(names) => names.iter().any(|name| name == attribute),
            }
    }

    /// An item as an index shows it.
    pub(super) fn projected(&self, index: &IndexAbout, item: &Item) -> Item {
        let shown = item.iter().filter(|(name, _)| self.shows(index, name));
        shown.map(|(name, value)| (name.clone(), value.clone())).collect()
    }
}

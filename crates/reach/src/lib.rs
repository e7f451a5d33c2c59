//! How servers are reached, as Go's programs reach them, since people set up their machines and certificates for those.
//! Start reading at [`Proxies`] and [`Trust`]; [`guard`] has the destinations that tenants must not reach.

pub mod guard;
mod proxies;
mod trust;

pub use proxies::{Proxies, shown};
pub use trust::Trust;

//! How servers are reached, as Go's programs reach them, since people set up their machines and certificates for those.
//! Start reading at [`Proxies`] and [`Trust`].

mod proxies;
mod trust;

pub use proxies::{Proxies, shown};
pub use trust::Trust;

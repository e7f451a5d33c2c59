//! A Helm repository: charts that are made in memory, and an index of them.
//!
//! ```
//! use testkit::helm::{Chart, Server};
//!
//! let charts = Server::start();
//! let chart = Chart::new("podinfo", "6.1.0").values("replicas: 1\n").template("cm.yaml", "kind: ConfigMap\n");
//! charts.add(&chart);
//! println!("helm repo add test {}", charts.url());
//! ```

mod chart;
mod generated;
mod index;
mod repository;

pub use chart::Chart;
pub use repository::{Repository, Server, Urls};

//! `helmCharts`: rendered in this process, or by a helm program where one is named.

mod files;
mod inside;
mod program;
mod program_files;

use kustomize::HelmChart;
use kustomize::helm::{Renderer, Request};

/// Who renders charts, and what was said about all of them by flags.
pub(super) struct Charts {
    /// The helm program, where one was named.
    pub(super) command: Option<String>,
    pub(super) kube_version: String,
    pub(super) api_versions: Vec<String>,
    pub(super) debug: bool,
}

impl Charts {
    /// The chart with what flags say about it instead.
    fn with_flags(&self, chart: &HelmChart) -> HelmChart {
        let mut chart = chart.clone();
        if !self.kube_version.is_empty() {
            chart.kube_version.clone_from(&self.kube_version);
        }
        if !self.api_versions.is_empty() {
            chart.api_versions.clone_from(&self.api_versions);
        }
        chart.debug |= self.debug;
        chart
    }
}

impl Renderer for Charts {
    fn template(&self, request: &Request<'_>) -> Result<String, String> {
        let chart = self.with_flags(request.chart);
        if chart.release_name.starts_with('-') {
            return Err(format!(
                "releaseName {:?} would be a flag of helm: it must not begin with '-'",
                chart.release_name
            ));
        }
        match self.command.as_deref() {
            None => inside::template(request, &chart),
            Some("") => Err("must specify --helm-command".to_owned()),
            Some(command) => program::template(command, request, &chart),
        }
    }
}

//! Flux's build of a Kustomization: a directory and a request of plain values to manifests.
//!
//! ```text
//!   files ─▶ generate ─▶ decrypt files ─▶ kustomize ─▶ decrypt objects ─▶ substitute ─▶ Manifests
//!            └ what the request adds to the kustomization file, over the files and not in them
//! ```
//!
//! It knows no custom resource: whoever has one turns its spec into a [`Request`]. Files are read through [`Files`], which
//! cannot be left; what is generated or decrypted lies over them in memory. Start reading at [`build`].

mod decrypt;
mod directory;
mod error;
mod files;
mod generate;
mod manifests;
mod metadata;
mod overlay;
mod reads;
mod remote;
mod request;
mod substitute;
mod waiting;

pub use decrypt::{
    CloudServices, Decrypter, KeyServices, Sops, VaultLogins, decode_data, is_encrypted_secret,
};
pub use directory::Directory;
pub use error::{Error, Errors, Origin};
pub use files::{Entry, EntryKind, Files};
pub use manifests::Manifests;
pub use metadata::CommonMetadata;
pub use reads::{Noting, NotingFetcher, Reads};
pub use remote::Remote;
pub use request::{Image, Patch, Request, Selector, Substitution};
pub use waiting::{CancelOnDrop, Cancellation, Place, WaitBudget};

pub use kustomize::substitute::Variables;

use kustomize::remote::Fetcher;
use kustomize::{LoadRestrictor, Options, Reorder};

/// What a build uses beside its files. Keep one: making it reads tables that are built in.
#[derive(Clone, Default)]
pub struct Tools<'t> {
    /// Gets remote bases and files; without it they are refused.
    pub fetcher: Option<&'t dyn Fetcher>,
    /// Decrypts files and objects; without it they stay as they are.
    pub decrypter: Option<&'t dyn Decrypter>,
    /// The schemas and tables of kustomize. What else is in it is set as Flux has it.
    pub kustomize: Options<'t>,
}

/// What is said to charts: Flux renders none here, and no flag changes that.
const WITHOUT_HELM: &str =
    "helmCharts are not rendered in a Kustomization: use a HelmRelease (must specify --enable-helm)";

/// Builds what a request asks for.
///
/// # Errors
/// With all that is wrong, as far as it can be told in one run.
pub fn build(files: &dyn Files, request: &Request, tools: &Tools<'_>) -> Result<Manifests, Errors> {
    let mut errors = Vec::new();
    let (mut overlay, source) = generate::overlay(files, request, &mut errors)?;
    if let Some(decrypter) = tools.decrypter {
        errors.extend(decrypt::files(&mut overlay, &request.path, decrypter));
    }
    let options = Options {
        load_restrictor: LoadRestrictor::None,
        reorder: Reorder::None,
        lenient_root: true,
        managed_by_label: false,
        fetcher: tools.fetcher,
        helm: None,
        without_helm: WITHOUT_HELM,
        ..tools.kustomize.clone()
    };
    let output = match kustomize::build(&overlay, &request.path, &options) {
        Ok(output) if errors.is_empty() => output,
        Ok(_) => return Err(Errors(errors)),
        Err(more) => {
            source.tell(more, &mut errors);
            return Err(Errors(errors));
        }
    };
    let (mut manifests, origins) = Manifests::new(output, &source)?;
    if let Some(decrypter) = tools.decrypter {
        errors.extend(decrypt::objects(manifests.objects_mut(), decrypter));
    }
    if let Some(substitution) = &request.substitution {
        errors.extend(substitute::run(manifests.objects_mut(), substitution, &origins));
    }
    Errors::check(errors)?;
    Ok(manifests)
}

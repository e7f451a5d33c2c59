//! Fetching one layer of an artifact.

use std::fs::File;
use std::io::{BufWriter, Seek as _};
use std::path::Path;

use model::Digest;

use super::{Annotations, Client, Descriptor, Error, Manifest, Repository};

/// A layer that was fetched and checked.
#[derive(Debug)]
pub struct Pulled {
    /// The digest of the manifest it is from. Of an index this is the digest of the entry that was taken.
    pub digest: Digest,
    /// The annotations of the manifest: the metadata of the artifact.
    pub annotations: Annotations,
    /// What the layer is.
    pub layer: Descriptor,
    /// The layer as the registry has it, at its beginning. The file has no name and is gone when it is closed.
    pub file: File,
}

impl Client {
    /// Fetches the first layer of an artifact, or the first with a media type, into a file without a name in `directory`.
    /// Extracting it is [`crate::archive`]'s work; to copy it, copy the file.
    ///
    /// # Errors
    /// Where there is no such layer, or it is not what its manifest says.
    pub async fn pull(
        &self,
        repository: &Repository,
        digest: Digest,
        media_type: Option<&str>,
        directory: &Path,
    ) -> Result<Pulled, Error> {
        let (content, manifest) = self.manifest(&repository.digest(digest)).await?;
        let layer = select(&manifest, media_type)?.clone();
        let cannot = |what| move |source| Error::Io { what, source };
        let file = tempfile::tempfile_in(directory).map_err(cannot("create a file for the layer"))?;
        let mut writer = BufWriter::with_capacity(256 << 10, file);
        self.download(repository, &layer, self.layer_limit, &mut writer)
            .await
            .map_err(|error| Error::Layer(Box::new(error)))?;
        let mut file = writer
            .into_inner()
            .map_err(|error| cannot("write the layer")(error.into_error()))?;
        file.rewind().map_err(cannot("read the layer back"))?;
        Ok(Pulled {
            digest: content.digest,
            annotations: manifest.annotations,
            layer,
            file,
        })
    }
}

/// The layer that is meant.
fn select<'a>(manifest: &'a Manifest, media_type: Option<&str>) -> Result<&'a Descriptor, Error> {
    let first = manifest.layers.first().ok_or(Error::NoLayers)?;
    match media_type.filter(|wanted| !wanted.is_empty()) {
        None => Ok(first),
        Some(wanted) => manifest
            .layers
            .iter()
            .find(|layer| layer.media_type == wanted)
            .ok_or_else(|| Error::NoLayerOfType(wanted.to_owned())),
    }
}

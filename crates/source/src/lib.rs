//! Sources: what Git, OCI registries, Helm repositories and buckets hold, fetched, verified and packed into artifacts.
//!
//! Nothing here knows a custom resource. A fetcher takes a request of plain values and gives back an outcome; what a failure
//! means for a status is decided by the controllers.
//!
//! | module | what it is |
//! |---|---|
//! | [`archive`] | trees of files, ignore rules, packing and safe unpacking |
//! | [`bucket`] | buckets of S3, Google Cloud Storage and Azure Blob Storage |
//! | [`git`] | Git repositories over HTTP and SSH, by branch, tag, version, name or commit |
//! | [`helm`] | Helm repositories and charts |
//! | [`http`] | one way to make HTTP clients: authorities, client certificates, proxies, time limits |
//! | [`identity`] | who we are to AWS, Azure and Google Cloud, and the credentials that follow from it |
//! | [`kms`] | key management services: AWS KMS, Azure Key Vault, Google Cloud KMS, Vault |
//! | [`oci`] | OCI registries: resolve, pull, push, list |
//! | [`store`] | the artifact store: atomic writes, garbage collection, HTTP server, sharing |
//! | [`trust`] | who reads from a server and whom they trust: the key of every shared cache |
//! | [`verify`] | signatures of OCI artifacts |

pub mod archive;
pub mod bucket;
pub mod git;
pub mod helm;
pub mod http;
pub mod identity;
pub mod kms;
pub mod oci;
mod rounds;
pub mod store;
pub mod trust;
pub mod verify;

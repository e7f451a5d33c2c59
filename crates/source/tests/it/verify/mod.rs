mod cosign;
mod cosign_program;
mod keyless;
mod notation;
mod public;
mod tuf;

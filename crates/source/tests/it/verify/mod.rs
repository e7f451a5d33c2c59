mod cosign;
mod cosign_program;

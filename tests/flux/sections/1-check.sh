# What is installed, and whether it works.
says 0 'all checks passed' 'sluice: deployment ready' 'registry.example.com/sluice:v' 'kustomizations.kustomize.toolkit.fluxcd.io/v1' \
    'ocirepositories.source.toolkit.fluxcd.io/v1' '!✗' -- flux check
says 0 'prerequisites checks passed' -- flux check --pre
says 0 'flux: v2' 'sluice: v' -- flux version

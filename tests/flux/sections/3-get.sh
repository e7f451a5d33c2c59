# What there is and how it is.
says 0 'flux-system +ocirepository/app +latest@sha256:[0-9a-f]{8} +False +True +stored artifact for digest' \
    'flux-system +kustomization/app +latest@sha256:[0-9a-f]{8} +False +True +Applied revision: latest@sha256:' -- flux get all -A
says 0 '^app +latest@sha256:[0-9a-f]{8} +False +True' -- flux get kustomizations
says 0 '^app +latest@sha256:[0-9a-f]{8} +False +True' -- flux get sources oci
says 0 'Kustomization +1 +0 +0' 'OCIRepository +1 +0 +0' -- flux stats -A

# What local files would change.
says 0 '!drifted' -- flux diff kustomization app --path="$OUT/app" --progress-bar=false
cp -r "$OUT/app" "$OUT/changed"
sed -i 's/green/yellow/' "$OUT/changed/settings.yaml"
rm "$OUT/changed/web.yaml"
says 1 'ConfigMap/default/settings drifted' 'yellow' 'Deployment/default/web deleted' -- \
    flux diff kustomization app --path="$OUT/changed" --progress-bar=false
says 0 'colour: yellow' -- flux build kustomization app --path="$OUT/changed"

# Labels and annotations.

body() {
    quiet apply -f configmaps.yaml
    k label configmap settings tier=front
    k label configmap settings tier=front
    k label configmap settings tier=back
    k label configmap settings tier=back --overwrite
    k label configmap settings tier- absent-
    k label configmaps -l part=settings both=yes
    k label configmaps --all n=1 --overwrite
    k_sorted label configmap settings --list
    k label configmap settings bad/key/here=1
    k label configmap settings 'key=bad value!'
    k label configmap settings a=1 a-
    k label configmap settings b=1 --resource-version=1
    k label configmap settings c=1 --dry-run=server -o 'jsonpath={.metadata.labels}'
    k label configmap settings c=1 --dry-run=client
    k label configmap none a=1
    k label -f configmaps.yaml file=yes
    k annotate configmap settings example.com/note='some text'
    k annotate configmap settings example.com/note='other text'
    k annotate configmap settings example.com/note='other text' --overwrite
    k annotate configmap settings example.com/note-
    k annotate configmap settings 'Bad Key=1'
    k annotate configmaps -l part=settings both=yes
    k_sorted annotate configmap settings --list
    k get configmaps --show-labels -l part=settings
}

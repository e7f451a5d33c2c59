{{- define "name" -}}
{{- default "app" .name | lower | replace " " "-" | trunc 63 | trimSuffix "-" -}}
{{- end -}}
{{- define "labels" -}}
app.kubernetes.io/name: {{ include "name" . }}
{{- range $key, $value := .labels }}
{{ $key }}: {{ $value | quote }}
{{- end }}
{{- end -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ include "name" . }}
  labels:
    {{- include "labels" . | nindent 4 }}
spec:
  template:
    spec:
      containers:
        {{- range $index, $item := .items }}
        - name: {{ printf "%s-%d" $item.name $index }}
          image: "{{ $item.image }}:{{ $item.tag | default "latest" }}"
          labels:
            {{- include "labels" $ | nindent 12 }}
          ports:
            {{- if and $item.port (gt (int $item.port) 8010) }}
            - containerPort: {{ int $item.port }}
            {{- else }}
            - containerPort: 80
            {{- end }}
          {{- with $item.env }}
          env:
            {{- range $name, $value := . }}
            - name: {{ $name }}
              value: {{ $value | quote }}
            {{- end }}
          {{- end }}
          annotation: {{ toJson $item.env | b64enc }}
          {{- if eq (mod $index 5) 0 }}
          first: {{ first (list $index "x") }}
          {{- end }}
        {{- end }}

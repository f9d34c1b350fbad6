{{/* Where the metrics of a component are, for Prometheus: (list $ "manager"). */}}
{{- define "loadline.metricsEndpoint" -}}
{{- $component := index . 1 -}}
{{- $metrics := (index . 0).Values.metrics -}}
port: {{ ternary "metrics" "https" (eq $component "manager") }}
{{- if or $metrics.secure (ne $component "manager") }}
scheme: https
# The program's certificate is its own, made at its start.
tlsConfig: {insecureSkipVerify: true}
{{- end }}
{{- if eq $component "gauge" }}
# What it says of pods has their namespaces and names, not its own.
honorLabels: true
{{- end }}
{{- end -}}

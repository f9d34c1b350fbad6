{{/* Where the metrics of a component are, for Prometheus, and the token to show, if it is in a Secret: (list $ "manager" $tokenSecret). */}}
{{- define "loadline.metricsEndpoint" -}}
{{- $component := index . 1 -}}
{{- $metrics := (index . 0).Values.metrics -}}
port: {{ ternary "metrics" "https" (eq $component "manager") }}
{{- if or $metrics.secure (ne $component "manager") }}
scheme: https
# The program's certificate is its own, made at its start.
tlsConfig: {insecureSkipVerify: true}
{{- with index . 2 }}
{{- if .name }}
authorization:
  type: Bearer
  credentials:
    {{- toYaml . | nindent 4 }}
{{- end }}
{{- end }}
{{- end }}
{{- if ne (include "loadline.name" (index . 0)) "loadline" }}
# The rules, alerts and dashboards know it by this name.
relabelings:
- {targetLabel: job, replacement: loadline-{{ $component }}}
{{- end }}
{{- if eq $component "gauge" }}
# What it says of pods has their namespaces and names, not its own.
honorLabels: true
{{- end }}
{{- end -}}

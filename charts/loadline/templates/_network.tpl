{{/*
The peers of a NetworkPolicy that Prometheus is, under "peers": those that are named, and the
namespaces of the service accounts that may read metrics.
*/}}
{{- define "loadline.prometheus" -}}
{{- $peers := .Values.networkPolicy.metricsFrom | default list -}}
{{- range .Values.metrics.readers -}}
{{- if .namespace -}}
{{- $peers = append $peers (dict "namespaceSelector" (dict "matchLabels" (dict "kubernetes.io/metadata.name" .namespace))) -}}
{{- end -}}
{{- end -}}
{{- dict "peers" (uniq $peers) | toYaml -}}
{{- end -}}

{{/* The ingress rule for those who ask for metrics at a port, if there are any: (list $ "https"). */}}
{{- define "loadline.ingressOfPrometheus" -}}
{{- with (include "loadline.prometheus" (index . 0) | fromYaml).peers -}}
# Prometheus.
- ports:
  - {port: {{ index $ 1 }}, protocol: TCP}
  from:
  {{- toYaml . | nindent 2 }}
{{- end -}}
{{- end -}}

{{/* The ingress rule for those who read what was observed. */}}
{{- define "loadline.ingressOfReaders" -}}
# Readers come by way of the API server, with a token. Without peers, from everywhere: on
# most clusters none names the API server.
- ports:
  - {port: https, protocol: TCP}
  {{- with .Values.networkPolicy.readersFrom }}
  from:
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end -}}

{{/* The egress rule for names. */}}
{{- define "loadline.egressForNames" -}}
# Names.
- ports:
  - {port: 53, protocol: UDP}
  - {port: 53, protocol: TCP}
  {{- with .Values.networkPolicy.dns }}
  to:
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end -}}

{{/* The egress rule to the API server. */}}
{{- define "loadline.egressToAPIServer" -}}
# The API server.
- ports:
  {{- range .Values.networkPolicy.apiServer.ports }}
  - {port: {{ . | int }}, protocol: TCP}
  {{- end }}
  {{- with .Values.networkPolicy.apiServer.cidrs }}
  to:
  {{- range . }}
  - ipBlock: {cidr: {{ . | quote }}}
  {{- end }}
  {{- end }}
{{- end -}}

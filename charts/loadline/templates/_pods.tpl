{{/* The metadata of a component's pods: (list $ "manager" $annotations). */}}
{{- define "loadline.podMetadata" -}}
{{- $root := index . 0 -}}
{{- $component := index . 1 -}}
{{- $values := index $root.Values $component -}}
labels:
  {{- include "loadline.selector" . | nindent 2 }}
  app.kubernetes.io/part-of: loadline
  {{- if eq $component "gauge" }}
  app.kubernetes.io/component: gauge
  {{- end }}
  {{- with merge (dict) ($values.podLabels | default dict) ($root.Values.commonLabels | default dict) }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with merge (dict) (index . 2) ($values.podAnnotations | default dict) }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* What a component's pods have in common, but for their containers: (list $ "manager"). */}}
{{- define "loadline.podSpec" -}}
{{- $root := index . 0 -}}
{{- $component := index . 1 -}}
{{- $values := index $root.Values $component -}}
serviceAccountName: {{ include "loadline.serviceAccount" . }}
{{- with $root.Values.image.pullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with include "loadline.priorityClass" . }}
priorityClassName: {{ . }}
{{- end }}
{{- with $values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.topologySpreadConstraints }}
topologySpreadConstraints:
  {{- range . }}
  {{- $constraint := deepCopy . }}
  {{- if not $constraint.labelSelector }}
  {{- $ours := dict "matchLabels" (include "loadline.selector" (list $root $component) | fromYaml) }}
  {{- $constraint = merge $constraint (dict "labelSelector" $ours "matchLabelKeys" (list "pod-template-hash")) }}
  {{- end }}
  {{- list $constraint | toYaml | nindent 2 }}
  {{- end }}
{{- end }}
securityContext:
  {{- include "loadline.podSecurityContext" $root | nindent 2 }}
{{- end -}}

{{/* The PriorityClass of a component's pods, if any: (list $ "manager"). */}}
{{- define "loadline.priorityClass" -}}
{{- $root := index . 0 -}}
{{- $component := index . 1 -}}
{{- $own := "" -}}
{{- if and (has $component (list "manager" "scheduler" "gauge")) $root.Values.priorityClass.create -}}
{{- $own = include "loadline.fullname" $root -}}
{{- end -}}
{{- (index $root.Values $component).priorityClassName | default $own -}}
{{- end -}}

{{/* The security context of all pods. */}}
{{- define "loadline.podSecurityContext" -}}
runAsNonRoot: true
{{- with .Values.podSecurity }}
{{- with .runAsUser }}
runAsUser: {{ . | int64 }}
{{- end }}
{{- with .runAsGroup }}
runAsGroup: {{ . | int64 }}
{{- end }}
seccompProfile:
  {{- toYaml .seccompProfile | nindent 2 }}
{{- end }}
{{- end -}}

{{/* The security context of all containers. */}}
{{- define "loadline.securityContext" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

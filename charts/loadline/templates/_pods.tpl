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
{{- $security := include "loadline.podSecurityContext" $root | fromYaml }}
{{- if and (eq $component "gauge") $values.podNames }}
{{- /* To list /var/log/pods, which the kubelet makes with the mode 0750. */}}
{{- $_ := set $security "supplementalGroups" (list 0) }}
{{- end }}
securityContext:
  {{- include "loadline.merged" (list $security $values.podSecurityContext) | nindent 2 }}
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

{{/* Fields of the chart, with those of values in their place: (list $fields $values). */}}
{{- define "loadline.merged" -}}
{{- mustMergeOverwrite (deepCopy (index . 0)) (deepCopy (index . 1 | default dict)) | toYaml -}}
{{- end -}}

{{/* A Deployment's strategy, if it has one: (list $ "manager"). Several must never act at once where none leads. */}}
{{- define "loadline.strategy" -}}
{{- $values := index (index . 0).Values (index . 1) -}}
{{- $default := dict -}}
{{- if not (($values.leaderElection | default (dict "enabled" true)).enabled) -}}
{{- $default = dict "type" "Recreate" -}}
{{- end -}}
{{- with $values.strategy | default $default -}}
strategy:
  {{- toYaml . | nindent 2 }}
{{- end -}}
{{- end -}}

{{/*
The environment variable that has Go keep a component's memory to 90 % of its limit: (list $ "manager").
Go's limit leaves out what the kernel holds for the container, and its own binary.
*/}}
{{- define "loadline.memoryLimit" -}}
{{- $values := index (index . 0).Values (index . 1) -}}
{{- $given := list -}}
{{- range $values.extraEnv }}{{ $given = append $given .name }}{{ end -}}
{{- $limit := dig "limits" "memory" "" ($values.resources | default dict) | toString -}}
{{- if and $limit (not (has "GOMEMLIMIT" $given)) -}}
- {name: GOMEMLIMIT, value: "{{ include "loadline.bytes" $limit | float64 | mulf 0.9 | floor | int64 }}"}
{{- end -}}
{{- end -}}

{{/* The bytes of a quantity of Kubernetes, such as 512Mi, 1.5G, 1e9 or 536870912. */}}
{{- define "loadline.bytes" -}}
{{- $suffixes := dict "" 1 "n" 1e-9 "u" 1e-6 "m" 1e-3 "k" 1e3 "M" 1e6 "G" 1e9 "T" 1e12 "P" 1e15 "E" 1e18
  "Ki" 1024 "Mi" 1048576 "Gi" 1073741824 "Ti" 1099511627776 "Pi" 1125899906842624 "Ei" 1152921504606846976 -}}
{{- $number := regexFind "^([0-9]+(\\.[0-9]*)?|\\.[0-9]+)([eE][-+]?[0-9]+)?" . -}}
{{- mulf (float64 $number) (index $suffixes (trimPrefix $number .)) -}}
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

{{/* The security context of a component's container: (list $ "manager"). */}}
{{- define "loadline.containerSecurityContext" -}}
{{- $values := index (index . 0).Values (index . 1) -}}
{{- include "loadline.merged" (list (include "loadline.securityContext" (index . 0) | fromYaml) $values.securityContext) -}}
{{- end -}}

{{/*
The probes of a component's container, which differ by where they ask:
(list $ "manager" (dict "path" "/healthz" "port" "health") (dict "path" "/readyz" "port" "health")).
*/}}
{{- define "loadline.probes" -}}
{{- $values := index (index . 0).Values (index . 1) -}}
livenessProbe:
  {{- include "loadline.probe" (list (index . 2) (dict "periodSeconds" 20 "failureThreshold" 6) $values.livenessProbe) | nindent 2 }}
readinessProbe:
  {{- include "loadline.probe" (list (index . 3) (dict "periodSeconds" 5) $values.readinessProbe) | nindent 2 }}
{{- end -}}

{{/* A probe, which asks by HTTP unless values have it ask otherwise: (list $httpGet $fields $values). */}}
{{- define "loadline.probe" -}}
{{- $fields := index . 1 -}}
{{- $values := index . 2 | default dict -}}
{{- if not (or $values.exec $values.grpc $values.tcpSocket) -}}
{{- $fields = merge (dict "httpGet" (index . 0)) $fields -}}
{{- end -}}
{{- include "loadline.merged" (list $fields $values) -}}
{{- end -}}

{{/* Refuses values that each make sense, but not together. */}}
{{- define "loadline.checks" -}}
{{- range $component := list "manager" "scheduler" }}
{{- with index $.Values $component }}
{{- if and (not .leaderElection.enabled) (gt (int .replicas) 1) }}
{{- fail (printf "%s.replicas: %d would all act at once: set it to 1, or %s.leaderElection.enabled to true" $component (int .replicas) $component) }}
{{- end }}
{{- if and (not .leaderElection.enabled) .strategy (ne (dig "type" "" .strategy) "Recreate") }}
{{- fail (printf "%s.strategy: the pod before and the one after an upgrade would both act: set its type to Recreate, or %s.leaderElection.enabled to true" $component $component) }}
{{- end }}
{{- end }}
{{- end }}
{{- range $component := list "manager" "scheduler" "gauge" "reader" "ui" "viewer" }}
{{- with index $.Values.serviceAccounts $component }}
{{- if and (not .create) (not .name) }}
{{- fail (printf "serviceAccounts.%s.name: with create: false it must name a service account of the namespace" $component) }}
{{- end }}
{{- end }}
{{- end }}
{{- if and .Values.ui.enabled (not .Values.gauge.enabled) }}
{{- fail "ui.enabled: the live page shows what gauges observe: set gauge.enabled to true" }}
{{- end }}
{{- if .Values.gauge.enabled }}
{{- $namespace := include "loadline.gaugeNamespace" . }}
{{- if .Values.gauge.namespace.create }}
{{- if eq $namespace .Release.Namespace }}
{{- fail (printf "gauge.namespace.create: the release's namespace, %s, is there already: set it to false, or gauge.namespace.name to another name" $namespace) }}
{{- end }}
{{- else }}
{{- with lookup "v1" "Namespace" "" $namespace }}
{{- $level := index (.metadata.labels | default dict) "pod-security.kubernetes.io/enforce" | default "privileged" }}
{{- if ne $level "privileged" }}
{{- fail (printf "gauge.namespace.name: the namespace %s enforces the Pod Security Standard %s, which lets no gauge run: label it pod-security.kubernetes.io/enforce=privileged, or set gauge.namespace.create to true with another name, or gauge.enabled to false" $namespace $level) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- with .Values.limits }}
{{- if le (float64 .minMaxDilation) 1.0 }}
{{- fail (printf "limits.minMaxDilation: %v must be more than 1: how many times longer than alone a pod may take" .minMaxDilation) }}
{{- end }}
{{- if or (lt (float64 .maxImportance) 1.0) (gt (float64 .maxImportance) 100.0) }}
{{- fail (printf "limits.maxImportance: %v must be from 1, the importance of a profile that sets none, to 100" .maxImportance) }}
{{- end }}
{{- end }}
{{- if eq .Values.scheduler.schedulerName "default-scheduler" }}
{{- fail "scheduler.schedulerName: default-scheduler is kube-scheduler's: to take its place, set scheduler.replaceDefault to true" }}
{{- end }}
{{- if and .Values.metrics.serviceMonitor.enabled .Values.metrics.podMonitor.enabled }}
{{- fail "metrics.podMonitor.enabled: with metrics.serviceMonitor.enabled everything would be scraped twice: set one of them to false" }}
{{- end }}
{{- range $what, $where := dict "measurement" .Values.rbac.measurement "replay" .Values.rbac.replay }}
{{- if and $where.allNamespaces $where.namespaces }}
{{- fail (printf "rbac.%s.namespaces: it names some of all namespaces: set rbac.%s.allNamespaces to false" $what $what) }}
{{- end }}
{{- end }}
{{- end -}}

{{/* The version of Kubernetes that the scheduler emulates: that of an API server older than what it is made of. Empty for its own, or where scheduler.extraArgs say. */}}
{{- define "loadline.emulatedVersion" -}}
{{- if and (semverCompare "<1.37.0-0" .Capabilities.KubeVersion.Version) (not (contains "--emulated-version" (join " " .Values.scheduler.extraArgs))) -}}
{{- $server := semver .Capabilities.KubeVersion.Version -}}
{{ printf "%d.%d" $server.Major $server.Minor }}
{{- end -}}
{{- end -}}

{{/* Says whether the API server has MutatingAdmissionPolicy, by being empty or not. */}}
{{- define "loadline.mutatingPolicies" -}}
{{- if and (semverCompare ">=1.36.0-0" .Capabilities.KubeVersion.Version) (.Capabilities.APIVersions.Has "admissionregistration.k8s.io/v1/MutatingAdmissionPolicy") }}yes{{ end -}}
{{- end -}}

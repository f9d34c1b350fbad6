{{/*
The scheduler's KubeSchedulerConfiguration. In the place of kube-scheduler it has
kube-scheduler's lease, so that never both of them place the same pods.
*/}}
{{- define "loadline.schedulerConfig" -}}
{{- $scheduler := .Values.scheduler -}}
{{- $names := list $scheduler.schedulerName -}}
{{- $lease := dict "name" "loadline-scheduler" "namespace" .Release.Namespace -}}
{{- if $scheduler.replaceDefault -}}
{{- $names = prepend $names "default-scheduler" -}}
{{- $lease = dict "name" "kube-scheduler" "namespace" "kube-system" -}}
{{- end -}}
{{- $profiles := list -}}
{{- range $names -}}
{{- $profiles = append $profiles (merge (dict "schedulerName" .) (include "loadline.schedulerProfile" $scheduler.dilation | fromYaml)) -}}
{{- end -}}
{{- $config := dict
  "apiVersion" "kubescheduler.config.k8s.io/v1"
  "kind" "KubeSchedulerConfiguration"
  "leaderElection" (dict
    "leaderElect" $scheduler.leaderElection.enabled
    "resourceName" $lease.name
    "resourceNamespace" $lease.namespace)
  "clientConnection" (dict
    "qps" $scheduler.clientConnection.qps
    "burst" ($scheduler.clientConnection.burst | int))
  "parallelism" ($scheduler.parallelism | int)
  "percentageOfNodesToScore" ($scheduler.percentageOfNodesToScore | int)
  "profiles" $profiles -}}
{{- mustMergeOverwrite $config (deepCopy ($scheduler.config | default dict)) | toYaml -}}
{{- end -}}

{{/* A profile of it, but for its name. */}}
{{- define "loadline.schedulerProfile" -}}
plugins:
  multiPoint:
    enabled:
    - name: Dilation
      weight: {{ .weight | int }}
  preScore:
    disabled:
    - name: NodeResourcesFit
    - name: NodeResourcesBalancedAllocation
  score:
    disabled:
    - name: NodeResourcesFit
    - name: NodeResourcesBalancedAllocation
pluginConfig:
- name: Dilation
  args:
    apiVersion: config.loadline.dev/v1alpha1
    kind: DilationArgs
    {{- with .requests }}
    requests:
      {{- toYaml . | nindent 6 }}
    {{- end }}
    syncTimeoutSeconds: {{ .syncTimeoutSeconds | int }}
    objective: {{ .objective }}
    packing:
      maxDilation: {{ .packing.maxDilation | toString | quote }}
    guard:
      mode: {{ .guard.mode | quote }}
    {{- with .hold.maxDilation }}
    hold:
      maxDilation: {{ . | toString | quote }}
      maxWaitSeconds: {{ $.hold.maxWaitSeconds | int }}
    {{- end }}
    eventsPerSecond: {{ .eventsPerSecond | int }}
{{- end -}}

{{/* The names of the scheduler, with commas between. */}}
{{- define "loadline.schedulerNames" -}}
{{- if .Values.scheduler.replaceDefault }}default-scheduler,{{ end }}{{ .Values.scheduler.schedulerName }}
{{- end -}}

{{/*
The scheduler's KubeSchedulerConfiguration. In the place of kube-scheduler it has
kube-scheduler's lease, so that never both of them place the same pods.
*/}}
{{- define "loadline.schedulerConfig" -}}
{{- $scheduler := .Values.scheduler -}}
{{- $limits := .Values.limits | default dict -}}
{{- $lease := dict "name" "loadline-scheduler" "namespace" .Release.Namespace -}}
{{- if $scheduler.replaceDefault -}}
{{- $lease = dict "name" "kube-scheduler" "namespace" "kube-system" -}}
{{- end -}}
{{- $profiles := list -}}
{{- range splitList "," (include "loadline.schedulerNames" .) -}}
{{- $profiles = append $profiles (merge (dict "schedulerName" .) (include "loadline.schedulerProfile" (merge (dict "limits" $limits) $scheduler) | fromYaml)) -}}
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

{{/* A profile of it, but for its name, of the values of the scheduler and the limits. */}}
{{- define "loadline.schedulerProfile" -}}
{{- $order := .slaOrder | default dict -}}
plugins:
  {{- if $order.enabled }}
  queueSort:
    disabled:
    - name: PrioritySort
    enabled:
    - name: SLAOrder
  {{- end }}
  multiPoint:
    enabled:
    - name: Dilation
      weight: {{ .dilation.weight | int }}
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
    {{- with .dilation.requests }}
    requests:
      {{- toYaml . | nindent 6 }}
    {{- end }}
    syncTimeoutSeconds: {{ .dilation.syncTimeoutSeconds | int }}
    {{- with .dilation.objective }}
    objective: {{ . }}
    {{- end }}
    {{- with (.dilation.packing | default dict).maxDilation }}
    packing:
      maxDilation: {{ . | toString | quote }}
    {{- end }}
    {{- with (.dilation.guard | default dict).mode }}
    guard:
      mode: {{ . | quote }}
    {{- end }}
    {{- with .limits }}
    limits:
      minMaxDilation: {{ .minMaxDilation | toString | quote }}
      maxImportance: {{ .maxImportance | toString | quote }}
    {{- end }}
    {{- $hold := .dilation.hold | default dict }}
    {{- with $hold.maxDilation }}
    hold:
      maxDilation: {{ . | toString | quote }}
      maxWaitSeconds: {{ $hold.maxWaitSeconds | int }}
    {{- end }}
    {{- if hasKey .dilation "eventsPerSecond" }}
    eventsPerSecond: {{ .dilation.eventsPerSecond | int }}
    {{- end }}
{{- if eq (.defaultSpreading | default "System") "None" }}
- name: PodTopologySpread
  args:
    defaultingType: List
{{- end }}
{{- if $order.enabled }}
- name: SLAOrder
  args:
    apiVersion: config.loadline.dev/v1alpha1
    kind: SLAOrderArgs
    {{- with $order.discipline }}
    discipline: {{ . }}
    {{- end }}
    {{- with $order.maxWaitSeconds }}
    maxWaitSeconds: {{ . | int }}
    {{- end }}
    {{- with $order.windowSeconds }}
    windowSeconds: {{ . | int }}
    {{- end }}
    syncTimeoutSeconds: {{ .dilation.syncTimeoutSeconds | int }}
{{- end }}
{{- end -}}

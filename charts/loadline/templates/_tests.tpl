{{/*
What the tests' pods have in common. They see whether all is well, if they may. Their
container comes last, so that one can go on with it.
*/}}
{{- define "loadline.testPod" -}}
restartPolicy: Never
activeDeadlineSeconds: {{ .Values.tests.timeoutSeconds | int }}
{{- if .Values.rbac.create }}
serviceAccountName: {{ include "loadline.fullname" . }}-test
{{- else }}
automountServiceAccountToken: false
{{- end }}
enableServiceLinks: false
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tests.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tests.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  {{- include "loadline.podSecurityContext" . | nindent 2 }}
containers:
- name: test
  image: {{ include "loadline.image" (list . .Values.replay.image) | quote }}
  imagePullPolicy: {{ .Values.image.pullPolicy }}
  command:
  - kubectl-loadline
  {{- if .Values.rbac.create }}
  - status
  - --namespace={{ .Release.Namespace }}
  - --wait=1m
  {{- range $component := list "manager" "scheduler" }}
  {{- if not (index $.Values $component).enabled }}
  - --without={{ $component }}
  {{- end }}
  {{- end }}
  {{- else }}
  - version
  {{- end }}
  resources:
    requests: {cpu: 10m, memory: 32Mi}
    limits: {memory: 128Mi}
  securityContext:
    {{- include "loadline.securityContext" . | nindent 4 }}
{{- end -}}

{{/* The labels of all that there is for tests. */}}
{{- define "loadline.testLabels" -}}
app.kubernetes.io/component: test
{{ include "loadline.labels" . }}
{{- end -}}

{{/*
The metadata of a test's object: (list $ "its name" 1), the last being when its turn comes. It is in the release's
namespace, unless that is followed by another one, which is empty where there is none.
*/}}
{{- define "loadline.testMetadata" -}}
{{- $root := index . 0 -}}
{{- $namespace := $root.Release.Namespace -}}
{{- if gt (len .) 3 }}{{ $namespace = index . 3 }}{{ end -}}
name: {{ index . 1 }}
{{- with $namespace }}
namespace: {{ . }}
{{- end }}
labels:
  {{- include "loadline.testLabels" $root | nindent 2 }}
annotations:
  helm.sh/hook: test
  helm.sh/hook-weight: {{ index . 2 | quote }}
  helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
{{- end -}}

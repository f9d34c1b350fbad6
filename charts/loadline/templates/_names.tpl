{{/* What the label app.kubernetes.io/name of this release's pods begins with. */}}
{{- define "loadline.name" -}}
{{- .Values.nameOverride | default "loadline" -}}
{{- end -}}

{{/* What the names of this release's objects begin with. */}}
{{- define "loadline.fullname" -}}
{{- $own := include "loadline.name" . -}}
{{- $name := .Values.fullnameOverride -}}
{{- if not $name -}}
{{- $name = ternary .Release.Name (printf "%s-%s" .Release.Name $own) (contains $own .Release.Name) -}}
{{- end -}}
{{- $name | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{/* The name of a component's service account: (list $ "manager"). */}}
{{- define "loadline.serviceAccount" -}}
{{- $root := index . 0 -}}
{{- $component := index . 1 -}}
{{- (index $root.Values.serviceAccounts $component).name | default (printf "%s-%s" (include "loadline.fullname" $root) $component) -}}
{{- end -}}

{{/* The namespace of the gauges. */}}
{{- define "loadline.gaugeNamespace" -}}
{{- .Values.gauge.namespace.name | default (printf "%s-gauge" (include "loadline.fullname" .)) -}}
{{- end -}}

{{/* Says whether the manager asks the gauges what they observe, by being empty or not. */}}
{{- define "loadline.observe" -}}
{{- if and .Values.manager.enabled .Values.manager.observe.enabled .Values.gauge.enabled }}yes{{ end -}}
{{- end -}}

{{/* The labels of all objects. */}}
{{- define "loadline.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/part-of: loadline
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* The labels of a component's objects: (list $ "manager"). */}}
{{- define "loadline.componentLabels" -}}
app.kubernetes.io/name: {{ include "loadline.name" (index . 0) }}-{{ index . 1 }}
{{- if eq (index . 1) "gauge" }}
app.kubernetes.io/component: gauge
{{- end }}
{{ include "loadline.labels" (index . 0) }}
{{- end -}}

{{/* The labels by which a component's pods are found; a Deployment's can never change. */}}
{{- define "loadline.selector" -}}
app.kubernetes.io/name: {{ include "loadline.name" (index . 0) }}-{{ index . 1 }}
app.kubernetes.io/instance: {{ (index . 0).Release.Name }}
{{- end -}}

{{/* The reference of an image: (list $ .Values.probe.image). */}}
{{- define "loadline.image" -}}
{{- $root := index . 0 -}}
{{- $image := index . 1 -}}
{{- with $root.Values.image.registry }}{{ . }}/{{ end -}}
{{- $image.repository -}}
{{- if $image.digest -}}
@{{ $image.digest }}
{{- else -}}
:{{ $image.tag | default $root.Values.image.tag | default $root.Chart.AppVersion }}
{{- end -}}
{{- end -}}

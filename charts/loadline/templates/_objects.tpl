{{/*
The objects of a file of config/, as they stand there but for the release's labels
and what names begin with: (dict "root" $ "file" "files/rbac/users.yaml" "omit" (list "label")).
*/}}
{{- define "loadline.objects" -}}
{{- $root := .root -}}
{{- $omit := .omit | default list -}}
{{- $file := .file -}}
{{- $text := regexReplaceAll "([\\s\\[])loadline-" ($root.Files.Get $file) (print "${1}" (include "loadline.fullname" $root) "-") -}}
{{- range $document := splitList "\n---\n" (print "\n" $text) }}
{{- $object := fromYaml $document }}
{{- with $object.Error }}
{{- fail (printf "%s: %s" $file .) }}
{{- end }}
{{- if $object.kind }}
{{- $labels := $object.metadata.labels | default dict }}
{{- range $omit }}
{{- $_ := unset $labels . }}
{{- end }}
{{- $_ := set $object.metadata "labels" (merge $labels (include "loadline.labels" $root | fromYaml)) }}
---
{{ toYaml $object }}
{{ end }}
{{- end }}
{{- end -}}

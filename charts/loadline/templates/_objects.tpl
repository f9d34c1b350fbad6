{{/*
The objects of a file of config/, as they stand there but for the release's labels
and what names begin with: (dict "root" $ "file" "files/rbac/users.yaml" "omit" (list "label")).
Variables of policies have other expressions where "variables" has some, by name.
*/}}
{{- define "loadline.objects" -}}
{{- $root := .root -}}
{{- $omit := .omit | default list -}}
{{- $variables := .variables | default dict -}}
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
{{- range (($object.spec | default dict).variables) }}
{{- if hasKey $variables .name }}
{{- $_ := set . "expression" (index $variables .name) }}
{{- end }}
{{- end }}
---
{{ toYaml $object }}
{{ end }}
{{- end }}
{{- end -}}

// Package decode reads what people and programs write in YAML and JSON: objects of Kubernetes and
// of Loadline, and arguments of plugins. What is wrong is said in the words of the document, the
// field, its value and the rule, and never in those of Go's decoders: a [SyntaxError] where a text
// is no YAML, and a field.Error, as validation has it, for each field that does not fit.
//
// The package opens no file, and does not know which kinds there are.
package decode

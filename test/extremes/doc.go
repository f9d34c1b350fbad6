// Package extremes sets the numeric and list fields of an object to the extreme values
// that its CustomResourceDefinition admits, alone and in pairs: what evaluates objects
// must answer each of them, or refuse it in words, at a bounded cost.
//
//	kind, err := extremes.Of("ShareTree")
//	kind.Each(t, object, func(name string, o *unstructured.Unstructured) { … })
//	kind.Pairs(t, object, 200, func(name string, o *unstructured.Unstructured) { … })
//
// The fields are those of the definition's spec, walked along an object that has a value
// for each list and structure; package manifests has such objects. Numbers are set where
// they are absent, too.
//
//	a number    its largest and its smallest value: in all items of the lists around it,
//	            and, where these have several, in the first item only
//	a list      its largest length, by copies of its last item with keys of their own
//
// A bound is that of the schema or of a rule of the field itself, such as self <= 4096, or
// of the object around a list, such as size(self.items) <= 8, else that of the type. What the API server would refuse is left out. Strings and maps
// stay as they are.
package extremes

// Package validate says what is wrong with manifests, with no cluster: what the API
// server would refuse, what the controllers would report in a status, and what to
// write instead.
//
// The rules are not written again here. Those of the API server are the
// CustomResourceDefinitions of config/crd, applied by the API server's own code:
// strict decoding, pruning, defaulting, the OpenAPI schema, list types and CEL. Those
// of the controllers are the functions of packages profile and evaluate that the
// controllers call.
//
// The package reads no file and asks no cluster: its caller does both. An object is
// mended as advised and checked again, so that one run finds what the API server
// would say in several, and only advice is given that the rules accept.
package validate

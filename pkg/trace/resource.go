package trace

import "regexp"

// resourceName is a DNS-1035 label of at most 63 characters, as the names of
// resources in profiles are.
var resourceName = regexp.MustCompile(`^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$`)

const notResourceName = "a resource is a name of at most 63 lower-case letters, digits and -, " +
	"which starts with a letter and does not end with -, such as memory-bandwidth"

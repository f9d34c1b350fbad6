package deployed

import "errors"

// ErrNoProfileKind says that a cluster has no WorkloadProfiles.
var ErrNoProfileKind = errors.New("the cluster has no WorkloadProfiles, since Loadline's resource definitions are not installed")

package v1alpha1

// GuardLabel on a namespace says what the scheduler does where a pod of the namespace would be dilated more than
// sla.maxDilation of its WorkloadProfile allows: off, warn or enforce. It goes before the scheduler's configuration.
const GuardLabel = "loadline.dev/guard"

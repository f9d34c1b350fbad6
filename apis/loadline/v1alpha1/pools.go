package v1alpha1

// PoolsLabel on a namespace says whether its WorkloadProfiles count for PoolPlans that
// scale something in other namespaces: allow, or no. Only those who may label namespaces
// can say so.
const PoolsLabel = "loadline.dev/pools"

// PoolsAllow is the value of [PoolsLabel] that lets them count.
const PoolsAllow = "allow"

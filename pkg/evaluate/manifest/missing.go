package manifest

// OriginMissing is the origin of those errors about fields that another object would
// mend: one that is named and does not exist, or a member that a tree lacks. Who has
// not seen all objects can tell them from other errors.
const OriginMissing = "missing-object"

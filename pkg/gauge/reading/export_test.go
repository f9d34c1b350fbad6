package reading

// DeviceNumber is deviceNumber.
var DeviceNumber = deviceNumber

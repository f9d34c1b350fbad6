// Package station explains for how long operations waited at a device, and for whose: from what the device counted of all operations in an
// interval, from what is known of those of each customer, and from what an operation takes when the device is quiet.
//
// It says nothing of what would be: it divides what happened. Of the time for which operations of a customer were in flight, a part is
// service, which they would take alone as well, a part is waiting for operations of the same customer, and the rest is waiting for others.
//
// # The model
//
// The device is a station that serves in the order of arrival. Of a direction with N operations, in flight for T seconds in all, that take S
// seconds on the quiet device, each by the sizes of its customer, operations waited for T − S seconds in all. Reads and writes are told
// apart, since schedulers such as mq-deadline prefer one of them, and so are flushes, which empty the device's own cache for writes that last.
//
// How the customers share in that follows from what their operations find queued when they come. A customer with X operations a second, of s
// seconds each, that wait for w has n = X·(w + s) of them in flight on average, by Little's law ("A proof for the queuing formula L = λW",
// Operations Research 9, 1961): n·s seconds of work. An operation does not wait for itself, so that of the work of its own customer, with t
// threads, it finds the part (t − 1)/t, as in Schweitzer's and Bard's approximation of mean value analysis, and all of that of the others. Its
// waiting is in proportion to the work that it finds, and due to each customer in these proportions. Where t is not known it is taken for n,
// at least 1.
//
// Whatever the queue was, with one operation at a time a customer waits for another one no longer than that was served, and with n at a
// time n times as long.
//
// # What it does not see
//
// The service is that of an operation by itself, from its start to its end. A device that works on several at once needs less of its own
// time for each. Operations of customers are those that they submitted, and may be merged or split on the way to the device. A customer of
// which the threads are not known, and whose operations come in bursts, waits more for its own than is taken.
package station

// Package wire turns messages into the frames of the Kafka protocol and back.
//
// Simulated and real networks carry the same bytes, so a field that a version
// does not have, a default that only a decoder fills in, or a length that does
// not fit is met in simulation too, and not first by a user's client.
//
//	frame     int32 size of the rest | header | body
//	request   int16 key | int16 version | int32 correlation id
//	          | nullable string client id | tags, if the body is flexible
//	response  int32 correlation id | tags, if the body is flexible
//
// An ApiVersions response never has header tags: a client must read it before
// it knows what the broker speaks (KIP-511). A response does not name its key
// and version; Pending remembers them by request.
//
// The record bytes of a Fetch response may be regions of files. Layout leaves
// holes for them in the frame, Fill reads them, and Encode does both, so that a
// driver can put the read where the bytes go to the socket. Outline is for the
// driver that streams them there.
package wire

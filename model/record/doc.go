// Package record is Kafka's record batch, format version 2 (KIP-98): it builds,
// walks and checks the bytes that producers send, brokers store and consumers
// read, which are the same bytes all the way.
//
// A replica is a sequence of batches, and every promise that tidemark checks is
// at bottom a promise about them. So nothing here is a model of a batch: a Batch
// is the bytes themselves, and its accessors decode in place.
//
//	 0  base offset            8   stamped by the leader
//	 8  length                 4   of what follows this field
//	12  partition leader epoch 4   stamped by the leader (KIP-101)
//	16  magic                  1   2
//	17  CRC                    4   CRC-32C of byte 21 to the end
//	21  attributes             2   bits 0-2 codec, 3 timestamp type,
//	                               4 transactional, 5 control, 6 delete horizon
//	23  last offset delta      4   last offset - base offset
//	27  base timestamp         8   ms; or the delete horizon (KIP-534)
//	35  max timestamp          8   ms
//	43  producer id            8   -1: none
//	51  producer epoch         2   -1: none
//	53  base sequence          4   -1: none
//	57  count                  4   of records
//	61  records
//
//	record = length varint · attributes int8 · timestamp delta varlong ·
//	         offset delta varint · key length varint · key ·
//	         value length varint · value · count varint · headers
//	header = key length varint · key · value length varint · value
//
// Integers are big-endian, varints are zigzag as in Protocol Buffers, a length
// of -1 is null. The CRC leaves out base offset and leader epoch so that the
// leader may stamp them without reading the rest; the price is that damage there
// is not seen, and that nothing in a batch names its topic or partition.
//
// Compression (attributes, bits 0-2) covers everything from byte 61 on: an
// Inflater reads it, a Deflater writes it. Producers compress; a broker stores
// what it got unless the topic says otherwise.
package record

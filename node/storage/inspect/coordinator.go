package inspect

import (
	"fmt"
	"strconv"

	"tidemark/model/record"
)

// Coordinator is whose log it is.
type Coordinator int

// The coordinators whose records Dump decodes.
const (
	NoCoordinator          Coordinator = iota
	GroupCoordinator                   // __consumer_offsets
	TransactionCoordinator             // __transaction_state
)

func (c Coordinator) schemas() map[int16]coordinatorSchema {
	if c == GroupCoordinator {
		return groupSchemas
	}
	return transactionSchemas
}

// fields are key and value of a record of the coordinator's log, in the words of
// Kafka's own tool. One that cannot be decoded is told of in place of its key.
func (c Coordinator) fields(r record.Record) []Field {
	key, value, err := c.decode(r)
	if err != nil {
		return []Field{{"key", err.Error()}}
	}
	if r.Value == nil {
		return []Field{{"key", JSON(key)}, {"payload", "<DELETE>"}}
	}
	return []Field{{"key", JSON(key)}, {"payload", JSON(value)}}
}

// decode writes key and value as JSON; a key begins with the record's type, a value
// with its version, int16 each.
func (c Coordinator) decode(r record.Record) (key, value string, err error) {
	d := &decoder{buf: r.Key, plain: true}
	kind := int16(d.fixed(2))
	s, known := c.schemas()[kind]
	if !known && !d.bad {
		return "", "", fmt.Errorf("Unknown record type %d at offset %d, skipping.", kind, r.Offset) //nolint:staticcheck // Kafka's words
	}
	key = `{"type":"` + strconv.Itoa(int(kind)) + `","data":` + d.structure(s.key, 0) + "}"
	if d.bad || len(d.buf) > 0 {
		return "", "", skipped(r, "the key is not well formed")
	}
	if r.Value == nil {
		return key, "", nil
	}
	v := &decoder{buf: r.Value}
	version := int(int16(v.fixed(2)))
	if version < 0 || version > s.max {
		return "", "", skipped(r, fmt.Sprintf("version %d of the value of record type %d is not known", version, kind))
	}
	v.plain = version < s.flexible
	value = `{"version":"` + strconv.Itoa(version) + `","data":` + v.structure(s.value, version) + "}"
	if v.bad || len(v.buf) > 0 {
		return "", "", skipped(r, "the value is not well formed")
	}
	return key, value, nil
}

func skipped(r record.Record, why string) error {
	return fmt.Errorf("Error at offset %d, skipping. %s", r.Offset, why) //nolint:staticcheck // Kafka's words
}

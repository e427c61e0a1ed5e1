package inspect

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"tidemark/model/kafka"
	"tidemark/model/record"
)

// errUnknown: a metadata record of a type or version that came after this release.
var errUnknown = errors.New("metadata record of an unknown type")

// decodable checks a record of the metadata log. What came after this release is
// not judged.
func decodable(r record.Record) error {
	if _, err := decodeMetadata(r.Value); !errors.Is(err, errUnknown) {
		return err
	}
	return nil
}

// decodeMetadata writes a metadata record as the JSON that Kafka's own tool prints.
func decodeMetadata(value []byte) (string, error) {
	d := &decoder{buf: value}
	frame, key, version := d.uvarint(), d.uvarint(), d.uvarint()
	if d.bad || frame != 1 {
		return "", fmt.Errorf("metadata record of frame version %d, want 1", frame)
	}
	s, ok := schemas[key]
	if !ok || version > uint64(s.max) {
		return "", fmt.Errorf("%w: %d version %d", errUnknown, key, version)
	}
	data := d.structure(s.fields, int(version))
	if d.bad || len(d.buf) > 0 {
		return "", fmt.Errorf("the body of the metadata record %s version %d is not well formed", s.name, version)
	}
	return `{"type":"` + s.name + `","version":` + strconv.FormatUint(version, 10) + `,"data":` + data + "}", nil
}

// decodeControl writes the value of a control record of the metadata log so.
func decodeControl(t record.ControlType, value []byte) (name, text string, err error) {
	s, ok := controlSchemas[uint64(t)]
	if !ok {
		return "", "", fmt.Errorf("%w: control type %d", errUnknown, t)
	}
	d := &decoder{buf: value}
	version := int(int16(d.fixed(2)))
	if d.bad || version < 0 || version > s.max {
		return "", "", fmt.Errorf("%w: %s version %d", errUnknown, strings.TrimSuffix(s.name, ":"), version)
	}
	text = d.structure(s.fields, version, `"version":`+strconv.Itoa(version))
	if d.bad || len(d.buf) > 0 {
		return "", "", fmt.Errorf("the control record %s version %d is not well formed", strings.TrimSuffix(s.name, ":"), version)
	}
	return s.name, text, nil
}

// decodableControl checks a control record of the metadata log. What came after this
// release is not judged.
func decodableControl(t record.ControlType, value []byte) error {
	if _, _, err := decodeControl(t, value); !errors.Is(err, errUnknown) {
		return err
	}
	return nil
}

// decoder reads the flexible encoding, or the plain one from before KIP-482, and gives
// JSON; after a field that does not fit it is bad and gives zeros.
type decoder struct {
	buf      []byte
	bad      bool
	plain    bool
	consumer bool // the protocol type that was read is consumer
}

func (d *decoder) take(n uint64) []byte {
	if d.bad || n > uint64(len(d.buf)) {
		d.bad = true
		return nil
	}
	b := d.buf[:n]
	d.buf = d.buf[n:]
	return b
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.buf)
	if n <= 0 {
		d.bad = true
		return 0
	}
	d.buf = d.buf[n:]
	return v
}

func (d *decoder) fixed(n uint64) (v uint64) {
	for _, b := range d.take(n) {
		v = v<<8 | uint64(b)
	}
	return v
}

// structure reads the fields of a version, then the tagged ones; members come
// before them in the object.
func (d *decoder) structure(fields []field, version int, members ...string) string {
	texts := make([]string, len(fields))
	for i, f := range fields {
		if f.tag == 0 && version >= f.since && (f.until == 0 || version <= f.until) {
			texts[i] = d.member(f, version)
		}
		if f.kind == optionalKind {
			texts[i] = quote(f.name) + ":null"
		}
	}
	if d.plain {
		return object(texts, members)
	}
	for n := d.uvarint(); n > 0 && !d.bad; n-- {
		d.tagged(fields, version, texts)
	}
	return object(texts, members)
}

// object writes the members and those of texts that are there.
func object(texts, members []string) string {
	for _, t := range texts {
		if t != "" {
			members = append(members, t)
		}
	}
	return "{" + strings.Join(members, ",") + "}"
}

// length reads that of a string or of bytes, or an array's; not ok for null.
func (d *decoder) length(size uint64) (n uint64, ok bool) {
	if !d.plain {
		n = d.uvarint()
		return n - 1, n > 0
	}
	n = d.fixed(size)
	if n == 1<<(8*size)-1 {
		return 0, false
	}
	return n, true
}

// tagged reads one tagged field; one that is not known is skipped, as its tag says
// how long it is.
func (d *decoder) tagged(fields []field, version int, texts []string) {
	tag, size := d.uvarint(), d.uvarint()
	body := &decoder{buf: d.take(size)}
	for i, f := range fields {
		if f.tag == 0 || uint64(f.tag-1) != tag || version < f.since {
			continue
		}
		texts[i] = body.member(f, version)
		d.bad = d.bad || body.bad || len(body.buf) > 0
	}
}

func (d *decoder) member(f field, version int) string {
	if !f.array {
		return quote(f.name) + ":" + d.value(f, version)
	}
	n, ok := d.length(4)
	if !ok {
		return quote(f.name) + ":null"
	}
	var all []string
	for ; n > 0 && !d.bad; n-- {
		all = append(all, d.value(f, version))
	}
	return quote(f.name) + ":[" + strings.Join(all, ",") + "]"
}

func (d *decoder) value(f field, version int) string {
	switch f.kind {
	case boolKind:
		return strconv.FormatBool(d.fixed(1) != 0)
	case int8Kind:
		return strconv.Itoa(int(int8(d.fixed(1))))
	case int16Kind:
		return strconv.Itoa(int(int16(d.fixed(2))))
	case uint16Kind:
		return strconv.Itoa(int(d.fixed(2)))
	case int32Kind:
		return strconv.Itoa(int(int32(d.fixed(4))))
	case int64Kind:
		return strconv.FormatInt(int64(d.fixed(8)), 10)
	case floatKind:
		return strconv.FormatFloat(math.Float64frombits(d.fixed(8)), 'g', -1, 64)
	case uuidKind:
		var id kafka.UUID
		copy(id[:], d.take(uint64(len(id))))
		return quote(id.String())
	case structKind:
		return d.structure(f.of, version)
	case optionalKind:
		if int8(d.fixed(1)) <= 0 {
			return "null"
		}
		return d.structure(f.of, version)
	case bytesKind, consumerKind:
		n, ok := d.length(4)
		return d.binary(f, d.take(n), ok)
	}
	n, ok := d.length(2)
	if !ok {
		return "null"
	}
	text := string(d.take(n))
	if f.kind == protocolKind {
		d.consumer = text == "consumer"
	}
	return quote(text)
}

// binary writes bytes, or the message of the consumer protocol that they are.
func (d *decoder) binary(f field, b []byte, ok bool) string {
	switch {
	case !ok:
		return "null"
	case f.kind == bytesKind || !d.consumer:
		return quote(base64.StdEncoding.EncodeToString(b))
	}
	inner := &decoder{buf: b, plain: true}
	version := int(int16(inner.fixed(2)))
	text := inner.structure(f.of, version)
	d.bad = d.bad || inner.bad
	return text
}

// quote writes a JSON string.
func quote(s string) string {
	b, _ := json.Marshal(s) // a string always encodes
	return string(b)
}

// metadataSnapshot checks a snapshot of the metadata log (KIP-630): batches with
// offsets from 0, a header and a footer around metadata records.
func (w *walk) metadataSnapshot(files Files, path string) error {
	s, err := open(files, path)
	if err != nil {
		return err
	}
	err = w.snapshotBatches(&batches{source: s})
	s.close()
	return err
}

func (w *walk) snapshotBatches(s *batches) error {
	c := chain{epoch: kafka.NoEpoch}
	var last record.ControlType = noMarker
	for {
		b, pos, err := s.next()
		if err == io.EOF && last != record.SnapshotFooter {
			return w.mended(s.fault(s.size, "the snapshot of the metadata log has no footer"))
		}
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = c.follow(s.source, b, pos, 0)
		}
		if err != nil {
			return err
		}
		first := pos == 0
		err = w.walkRecords(s.source, b, pos, func(r record.Record) error {
			last = noMarker
			if !b.IsControl() {
				return decodable(r)
			}
			var err error
			if last, err = record.ParseControl(r.Key); err == nil {
				err = decodableControl(last, r.Value)
			}
			if first && err == nil && last != record.SnapshotHeader {
				err = errors.New("a snapshot of the metadata log begins with its header")
			}
			first = false
			return err
		})
		if err != nil {
			return err
		}
	}
}

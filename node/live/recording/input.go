package recording

import (
	"encoding/binary"
	"fmt"
	"time"

	"tidemark/disk"
	"tidemark/model/kafka"
	"tidemark/net/wire"
	"tidemark/node"
)

// InputKind is which call of node.Process a callback is.
type InputKind uint8

// The calls of node.Process.
const (
	Start InputKind = iota + 1
	Receive
	Posted
	Fire
	Synced
	Disconnected
)

var inputNames = [...]string{"", "Start", "Receive", "Posted", "Fire", "Synced", "Disconnected"}

// String is the name of the call.
func (k InputKind) String() string { return inputNames[k] }

// Input is what a callback is given.
type Input struct {
	Kind InputKind
	Now  time.Duration
	Wall kafka.Timestamp

	Conn    node.ConnID // Receive, Disconnected
	Frame   []byte      // Receive: the message's frame
	Message *node.Message

	From    node.Lane // Posted
	Ordinal uint64    // Posted: the how manieth post of From to this lane, from 1
	Value   any       // Posted from node.Outside

	Timer node.TimerID // Fire
	Token disk.Token   // Synced
	Fault Fault        // Synced
}

// cutShort marks the kind of a callback in which the node died.
const cutShort = 0x80

// The posts that a driver makes.
const stopPost = 1

// appendInput writes an input.
func appendInput(b []byte, in *Input) []byte {
	b = append(b, byte(in.Kind))
	b = binary.AppendVarint(b, int64(in.Now))
	b = binary.AppendVarint(b, int64(in.Wall))
	switch in.Kind {
	case Receive:
		b = binary.AppendUvarint(b, uint64(in.Conn))
		response := byte(0)
		if in.Message.Response != nil {
			response = 1
		}
		b = append(b, response)
		b = binary.AppendVarint(b, int64(in.Message.Key()))
		b = binary.AppendVarint(b, int64(in.Message.Version()))
		b = binary.AppendUvarint(b, uint64(len(in.Frame)))
		b = append(b, in.Frame...)
	case Posted:
		b = append(b, byte(in.From))
		b = binary.AppendUvarint(b, in.Ordinal)
		if in.From == node.Outside {
			if _, ok := in.Value.(node.Stop); !ok {
				panic(fmt.Sprintf("a recording knows node.Stop from outside of a node, not %T", in.Value))
			}
			b = append(b, stopPost)
		}
	case Fire:
		b = binary.AppendUvarint(b, uint64(in.Timer))
	case Synced:
		b = binary.AppendUvarint(b, uint64(in.Token))
		b = binary.AppendUvarint(b, in.Fault.Kind)
		b = appendString(b, in.Fault.Text)
	case Disconnected:
		b = binary.AppendUvarint(b, uint64(in.Conn))
	}
	return b
}

// Callback is one recorded callback.
type Callback struct {
	Input
	// Cut tells that the node died in it: the step behind Steps never came.
	Cut bool
	// Steps are what the lane did, as they are written.
	Steps []byte
}

// NextCallback takes the first callback off the data of a LaneChunk and returns
// what follows it. The callback aliases the data.
func NextCallback(data []byte) (Callback, []byte, error) {
	d := decoder{b: data}
	size := d.take(4)
	if size == nil {
		return Callback{}, nil, fmt.Errorf("%w: a callback ends early", ErrFormat)
	}
	body := d.take(uint64(binary.BigEndian.Uint32(size)))
	c, err := parseCallback(body)
	if d.short || err != nil {
		return Callback{}, nil, fmt.Errorf("%w: a callback cannot be read: %w", ErrFormat, err)
	}
	return c, d.b, nil
}

func parseCallback(body []byte) (Callback, error) {
	d := decoder{b: body}
	kind := d.byte()
	c := Callback{Cut: kind&cutShort != 0}
	c.Kind = InputKind(kind &^ cutShort)
	c.Now, c.Wall = time.Duration(d.int()), kafka.Timestamp(d.int())
	var err error
	switch c.Kind {
	case Start:
	case Receive:
		c.Conn = node.ConnID(d.uint())
		response, key, version := d.byte() != 0, int16(d.int()), int16(d.int())
		c.Frame = d.bytes()
		if response {
			c.Message, err = wire.DecodeResponse(c.Frame, key, version)
		} else {
			c.Message, err = wire.DecodeRequest(c.Frame)
		}
	case Posted:
		c.From, c.Ordinal = node.Lane(d.byte()), d.uint()
		if c.From == node.Outside {
			if d.byte() != stopPost {
				err = fmt.Errorf("an unknown post from outside")
			}
			c.Value = node.Stop{}
		}
	case Fire:
		c.Timer = node.TimerID(d.uint())
	case Synced:
		c.Token = disk.Token(d.uint())
		c.Fault = Fault{Kind: d.uint(), Text: d.string()}
	case Disconnected:
		c.Conn = node.ConnID(d.uint())
	default:
		err = fmt.Errorf("its kind is %d", c.Kind)
	}
	if err == nil && d.short {
		err = fmt.Errorf("its input ends early")
	}
	c.Steps = d.b
	return c, err
}

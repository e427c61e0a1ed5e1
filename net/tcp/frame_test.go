package tcp

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"testing"
	"testing/iotest"

	"tidemark/net/wire"
)

func TestStreamIsCutIntoFramesHoweverItArrives(t *testing.T) {
	var stream []byte
	sizes := []int{0, 1, 100, readBuffer - 4, readBuffer, readBuffer + 1, 70_000}
	for _, n := range sizes {
		stream = binary.BigEndian.AppendUint32(stream, uint32(n))
		stream = append(stream, pattern(n)...)
	}
	for how, src := range map[string]io.Reader{
		"at once":       bytes.NewReader(stream),
		"byte by byte":  iotest.OneByteReader(bytes.NewReader(stream)),
		"in halves":     iotest.HalfReader(bytes.NewReader(stream)),
		"end with data": iotest.DataErrReader(bytes.NewReader(stream)),
	} {
		r := newFrameReader(src, 70_000)
		for _, n := range sizes {
			size, err := r.size()
			if err != nil || size != n {
				t.Fatalf("%s: size %d, %v; want %d", how, size, err, n)
			}
			f, err := r.frame(size)
			if err != nil || !bytes.Equal(f[sizeBytes:], pattern(n)) || binary.BigEndian.Uint32(f) != uint32(n) {
				t.Fatalf("%s: the frame of %d bytes differs: %v", how, n, err)
			}
		}
		if _, err := r.size(); err != io.EOF {
			t.Fatalf("%s: the end gave %v", how, err)
		}
	}
}

func TestFrameBuffersAreNotShared(t *testing.T) {
	stream := []byte{0, 0, 0, 1, 'a', 0, 0, 0, 1, 'b'}
	r := newFrameReader(bytes.NewReader(stream), 10)
	var frames [2][]byte
	for i := range frames {
		size, err := r.size()
		if err != nil {
			t.Fatal(err)
		}
		if frames[i], err = r.frame(size); err != nil {
			t.Fatal(err)
		}
	}
	if frames[0][4] != 'a' || frames[1][4] != 'b' {
		t.Fatalf("a body changed under its owner: %q", frames)
	}
}

func FuzzFrameReader(f *testing.F) {
	f.Add([]byte{0, 0, 0, 2, 'a', 'b', 0, 0, 0, 0}, false)
	f.Add([]byte{255, 255, 255, 255}, true)
	f.Add([]byte{127, 255, 255, 255, 1}, false)
	f.Add([]byte{0, 0, 0, 9, 1, 2}, true)
	f.Fuzz(func(t *testing.T, stream []byte, slow bool) {
		const max = 1000
		var src io.Reader = bytes.NewReader(stream)
		if slow {
			src = iotest.OneByteReader(src)
		}
		r := newFrameReader(src, max)
		rest := stream
		for {
			size, err := r.size()
			if err == nil {
				var frame []byte
				if frame, err = r.frame(size); err == nil {
					if len(frame) != sizeBytes+size || size > max || !bytes.HasPrefix(rest, frame) {
						t.Fatalf("frame %x of the stream %x", frame, rest)
					}
					rest = rest[len(frame):]
					continue
				}
			}
			checkEnd(t, rest, err, max)
			return
		}
	})
}

// checkEnd checks that the rest of a stream deserves the error.
func checkEnd(t *testing.T, rest []byte, err error, max uint32) {
	tooLarge := len(rest) >= sizeBytes && binary.BigEndian.Uint32(rest) > max
	switch {
	case err == io.EOF && len(rest) == 0:
	case errors.Is(err, wire.ErrFrame) && tooLarge:
	case err == io.ErrUnexpectedEOF && !tooLarge && len(rest) > 0:
	default:
		t.Fatalf("the rest %x gave %v", rest, err)
	}
}

package sim

// slots keeps the values that queue entries name by number.
type slots[T any] struct {
	items []T
	free  []int32
}

func (s *slots[T]) put(v T) uint64 {
	if n := len(s.free); n > 0 {
		i := s.free[n-1]
		s.free = s.free[:n-1]
		s.items[i] = v
		return uint64(i)
	}
	s.items = append(s.items, v)
	return uint64(len(s.items) - 1)
}

// at is valid until the next put.
func (s *slots[T]) at(i uint64) *T { return &s.items[i] }

func (s *slots[T]) take(i uint64) T {
	var zero T
	v := s.items[i]
	s.items[i] = zero
	s.free = append(s.free, int32(i))
	return v
}

// fifo is a queue that reuses its memory.
type fifo[T any] struct {
	items []T
	head  int
}

func (f *fifo[T]) len() int { return len(f.items) - f.head }

func (f *fifo[T]) push(v T) {
	if f.head > 0 && len(f.items) == cap(f.items) {
		n := copy(f.items, f.items[f.head:])
		clear(f.items[n:])
		f.items, f.head = f.items[:n], 0
	}
	f.items = append(f.items, v)
}

func (f *fifo[T]) pop() T {
	var zero T
	v := f.items[f.head]
	f.items[f.head] = zero
	f.head++
	if f.head == len(f.items) {
		f.items, f.head = f.items[:0], 0
	}
	return v
}

func (f *fifo[T]) reset() {
	clear(f.items)
	f.items, f.head = f.items[:0], 0
}

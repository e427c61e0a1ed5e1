package osdisk

import (
	"sync"

	"tidemark/disk"
)

// workers is how many syncs of one lane are in the kernel at once. Its
// partitions share the lane, and a journalling file system serves their syncs
// together; the bound keeps a restart, which syncs every log, from taking a
// thread for each.
const workers = 4

// job is one sync: work to do, or an error to deliver.
type job struct {
	token disk.Token
	sync  func() error
	err   error
}

// syncs is the queue of one lane's syncs. Workers are made when there is work
// and end when there is none.
type syncs struct {
	deliver func(disk.Token, error)

	mu      sync.Mutex
	queue   []job
	running int
	ended   bool
	wg      sync.WaitGroup
}

// ask queues a job and never blocks.
func (s *syncs) ask(j job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return
	}
	s.queue = append(s.queue, j)
	if s.running < workers {
		s.running++
		s.wg.Go(s.work)
	}
}

func (s *syncs) work() {
	for {
		j, ok := s.next()
		if !ok {
			return
		}
		if j.sync != nil {
			j.err = j.sync()
		}
		s.deliver(j.token, j.err)
	}
}

// next takes the oldest job; false ends the worker.
func (s *syncs) next() (job, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended || len(s.queue) == 0 {
		s.running--
		s.queue = nil
		return job{}, false
	}
	j := s.queue[0]
	s.queue[0] = job{}
	s.queue = s.queue[1:]
	return j, true
}

// end drops what has not begun and waits for the rest.
func (s *syncs) end() {
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
	s.wg.Wait()
}

package osdisk

import (
	"os"
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

	name string       // of a directory, "" for a file
	dir  os.FileInfo  // the directory that has this name
	also []disk.Token // who else waits for the sync of the directory
}

// syncs is the queue of one lane's syncs. Workers are made when there is work
// and end when there is none.
type syncs struct {
	deliver func(disk.Token, error)

	mu      sync.Mutex
	queue   []*job
	dirs    map[string]*job // the directories in the queue, by name
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
	s.queue = append(s.queue, &j)
	if j.name != "" {
		s.dirs[j.name] = &j
	}
	if s.running < workers {
		s.running++
		s.wg.Go(s.work)
	}
}

// join lets a sync of a directory that has not begun serve another one who asks for
// it: it will cover all names that are there now. Small segments ask for the same
// directory faster than a device syncs it, and each would hold a descriptor.
func (s *syncs) join(token disk.Token, name string, dir os.FileInfo) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	j := s.dirs[name]
	if j == nil || !os.SameFile(j.dir, dir) {
		return false
	}
	j.also = append(j.also, token)
	return true
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
		for _, token := range j.also {
			s.deliver(token, j.err)
		}
	}
}

// next takes the oldest job; false ends the worker.
func (s *syncs) next() (*job, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended || len(s.queue) == 0 {
		s.running--
		s.queue = nil
		clear(s.dirs)
		return nil, false
	}
	j := s.queue[0]
	s.queue[0] = nil
	s.queue = s.queue[1:]
	if s.dirs[j.name] == j {
		delete(s.dirs, j.name)
	}
	return j, true
}

// end drops what has not begun and waits for the rest.
func (s *syncs) end() {
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
	s.wg.Wait()
}

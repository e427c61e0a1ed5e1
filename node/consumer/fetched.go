package consumer

import (
	"errors"
	"slices"

	"tidemark/model/kafka"
	"tidemark/model/record"
	"tidemark/node/client"
)

// Record is a record as the application gets it. Its slices alias the fetched
// bytes, or what these decompressed to, and stay valid.
type Record struct {
	record.Record
	Epoch kafka.LeaderEpoch // of its batch
	// TimestampType tells whose time the Timestamp is.
	TimestampType record.TimestampType
}

// fetched is one partition's part of an answer, taken apart as records are
// asked for.
type fetched struct {
	answer client.Fetched
	next   kafka.Offset      // position after what was taken
	epoch  kafka.LeaderEpoch // of the last batch taken from; NoEpoch before
	rest   []byte            // batches not begun
	batch  record.Batch      // nil between batches
	it     record.Iterator   // in batch
	// inflater is the consumer's.
	inflater *record.Inflater
	aborted  abortedFilter
	done     bool
}

func newFetched(a client.Fetched, from kafka.Offset, level client.Isolation, f *record.Inflater) *fetched {
	return &fetched{answer: a, next: from, epoch: kafka.NoEpoch, rest: a.Records, inflater: f, aborted: newAbortedFilter(level, a.Aborted)}
}

// take returns up to n more records. Records below the position, which the
// first batch may hold, control batches and aborted ones are passed over; the end
// of a batch counts even if compaction took its last records. After an error, which wraps
// record.ErrCorrupt or ErrCompressed, nothing more can be taken.
func (f *fetched) take(n int, checkCRCs bool) (recs []Record, err error) {
	for len(recs) < n && !f.done {
		if f.batch == nil {
			if err := f.begin(checkCRCs); err != nil {
				return recs, err
			}
			continue
		}
		if !f.it.Next() {
			if err := f.it.Err(); err != nil {
				return recs, err
			}
			f.end()
			continue
		}
		r := f.it.Record()
		if r.Offset < f.next {
			continue
		}
		r.Headers = slices.Clone(r.Headers)
		f.next, f.epoch = r.Offset+1, f.batch.LeaderEpoch()
		recs = append(recs, Record{r, f.epoch, f.batch.TimestampType()})
	}
	return recs, nil
}

// begin opens the next batch. The last one may be cut off by the size limits
// of the fetch, which is no error.
func (f *fetched) begin(checkCRCs bool) error {
	if len(f.rest) == 0 {
		f.done = true
		return nil
	}
	b, rest, err := record.Next(f.rest)
	if errors.Is(err, record.ErrTruncated) {
		f.done = true
		return nil
	}
	if err != nil {
		return err
	}
	if checkCRCs {
		if err := b.Check(); err != nil {
			return err
		}
	}
	aborted, err := f.aborted.drops(b)
	if err != nil {
		return err
	}
	f.rest = rest
	f.batch = b
	if aborted || b.IsControl() {
		f.end()
		return nil
	}
	f.it.ResetWith(f.inflater, b)
	f.inflater.Detach() // the application keeps the records
	return nil
}

func (f *fetched) end() {
	if next := f.batch.NextOffset(); next > f.next {
		f.next, f.epoch = next, f.batch.LeaderEpoch()
	}
	f.batch = nil
}

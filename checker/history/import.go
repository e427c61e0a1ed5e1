package history

// ImportOptions are what an importer must know besides the file.
type ImportOptions struct {
	// Alone: the file is the whole history. One process writes its lines in the
	// order of what it does, so they are numbered; of several files only time
	// can say what came first.
	Alone bool
	// ClockErr is how wrong the clock behind the file's times may be, ns.
	ClockErr int64
}

// Header is the header of an imported history whose times are whole units of
// resolution, ns.
func (o ImportOptions) Header(source string, resolution int64) Header {
	if o.Alone {
		return Header{Source: source, Clock: BySeq}
	}
	return Header{Source: source, Clock: ByTime, ClockErr: o.ClockErr + resolution}
}

package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"tidemark/node/storage/inspect"
)

// dumpFlags are the flags of log dump.
type dumpFlags struct {
	inspect.DumpOptions
	files        []string
	json         bool
	offsets      bool
	transactions bool
}

func newLogDump() *cobra.Command {
	f := new(dumpFlags)
	cmd := &cobra.Command{
		Use:   "dump FILE|DIR...",
		Short: "print the entries of log files, indexes, snapshots and checkpoints",
		Long: `Print what the files of a log directory hold, one line for each entry, with the fields of
Kafka's kafka-dump-log: batches of .log files (with --deep-iteration records too, with
--print-data their keys and values), entries of .index, .timeindex and .txnindex,
producers of .snapshot files, epochs, checkpoints, properties. Records of the metadata
log and of its snapshots are decoded, those of __consumer_offsets and of
__transaction_state with a decoder that is named. In a directory every file that is known
is printed, and symbolic links are followed; a broker may be at work in it: files that go
meanwhile are told on stderr.

Exit status: 0 all was read, 1 a file has bytes that cannot be read, 2 bad usage.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.offsets && f.transactions {
				return usageError("--offsets-decoder and --transaction-log-decoder: name one of them")
			}
			f.Again = pause
			if f.offsets {
				f.Coordinator = inspect.GroupCoordinator
			}
			if f.transactions {
				f.Coordinator = inspect.TransactionCoordinator
			}
			files, err := dumped(append(args, f.files...))
			if err != nil {
				return err
			}
			out := bufio.NewWriter(cmd.OutOrStdout())
			return errors.Join(f.dumpAll(out, cmd.ErrOrStderr(), files), out.Flush())
		},
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&f.files, "files", nil, "files to print, separated by commas, as kafka-dump-log takes them")
	flags.BoolVar(&f.DeepIteration, "deep-iteration", false, "print the records of batches")
	flags.BoolVar(&f.PrintData, "print-data", false, "print records with their keys and values (also --print-data-log)")
	flags.BoolVar(&f.SkipRecordMetadata, "skip-record-metadata", false, "of records print keys and values alone")
	flags.BoolVar(&f.Metadata, "cluster-metadata-decoder", false, "decode values as metadata records, wherever the file lies; implies --print-data")
	flags.BoolVar(&f.offsets, "offsets-decoder", false, "decode keys and values as records of __consumer_offsets; implies --print-data")
	flags.BoolVar(&f.transactions, "transaction-log-decoder", false, "decode keys and values as records of __transaction_state; implies --print-data")
	flags.Int64Var(&f.MaxBytes, "max-bytes", 0, "read no more of a log, in bytes from its start; 0 is all")
	flags.BoolVar(&f.json, "json", false, "print one JSON object a line")
	flags.BoolVar(&f.PrintData, "print-data-log", false, "--print-data by the name that kafka-dump-log has for it")
	flags.Lookup("print-data-log").Hidden = true
	return cmd
}

// dumpAll prints the files; notice is told of those that went.
func (f *dumpFlags) dumpAll(out, notice io.Writer, files []dumpedFile) error {
	for _, file := range files {
		err := f.dump(out, file.path)
		if file.found && errors.Is(err, fs.ErrNotExist) {
			fmt.Fprintf(notice, "%s: went while its directory was read, not printed\n", file.path)
			continue
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// dumpedFile is a file to print.
type dumpedFile struct {
	path  string
	found bool // in a directory that was named
}

// dumped are the files to print: those named, and those that are known in
// directories that are named.
func dumped(args []string) (files []dumpedFile, err error) {
	for _, arg := range args {
		info, err := os.Stat(arg)
		switch {
		case err != nil:
			return nil, usageError("%w", err)
		case info.IsDir():
			if files, err = found(files, arg); err != nil {
				return nil, usageError("%w", err)
			}
		default:
			files = append(files, dumpedFile{arg, false})
		}
	}
	if len(files) == 0 {
		return nil, usageError("name files of log directories, or directories that have some")
	}
	return files, nil
}

// found adds the files that are known in a directory and below.
func found(files []dumpedFile, dir string) ([]dumpedFile, error) {
	names, err := osFiles{}.List(filepath.ToSlash(dir))
	if err != nil {
		return files, err
	}
	for _, name := range names {
		path := filepath.Join(dir, name)
		if strings.HasSuffix(name, "/") {
			if files, err = found(files, path); err != nil && !errors.Is(err, fs.ErrNotExist) { // one may go since its parent was read
				return nil, err
			}
		} else if inspect.Dumpable(name) {
			files = append(files, dumpedFile{path, true})
		}
	}
	return files, nil
}

func (f *dumpFlags) dump(w io.Writer, name string) error {
	o := f.DumpOptions
	if dir, _ := inspect.ReplicaOf(filepath.Base(filepath.Dir(name))); dir.Topic == "__cluster_metadata" || strings.HasSuffix(name, ".checkpoint") {
		o.Metadata = true
	}
	o.PrintData = o.PrintData || o.Metadata && (f.Metadata || o.DeepIteration)
	files := &headed{header: func() {
		if f.json {
			return
		}
		fmt.Fprintln(w, "Dumping", name)
		if base, ok := inspect.BaseOffset(filepath.Base(name)); ok {
			fmt.Fprintln(w, "Log starting offset:", base)
		}
	}}
	err := inspect.Dump(files, filepath.ToSlash(name), o, func(e inspect.Entry) error {
		line := e.Text()
		if f.json {
			line = e.JSON(name)
		}
		_, err := fmt.Fprintln(w, line)
		return err
	})
	var fault *inspect.Fault
	switch {
	case errors.As(err, &fault):
		return &exitError{exitViolation, fault}
	case errors.Is(err, inspect.ErrNotAFile), errors.Is(err, os.ErrNotExist):
		return usageError("%w", err)
	}
	return err
}

// headed are the files of the machine, of which one is printed: its header comes
// once it is open, as a file that went has none.
type headed struct {
	osFiles
	header func()
}

// Open implements inspect.Files.
func (h *headed) Open(name string) (inspect.File, error) {
	file, err := h.osFiles.Open(name)
	if err == nil && h.header != nil {
		h.header()
		h.header = nil
	}
	return file, err
}

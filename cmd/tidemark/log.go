package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"tidemark/model/kafka"
	"tidemark/node/storage/inspect"
)

func newLog() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "log",
		Short: "print and check log directories, of Apache Kafka too",
		Long: `Read the files of log directories without being a broker: those that tidemark serve
wrote and those of Apache Kafka, which are the same. Nothing is written.`,
		RunE: func(*cobra.Command, []string) error { return usageError("log takes dump or verify") },
	}
	cmd.AddCommand(newLogDump(), newLogVerify())
	return cmd
}

func newLogVerify() *cobra.Command {
	var asJSON bool
	var expiration int64
	cmd := &cobra.Command{
		Use:   "verify DIR...",
		Short: "check everything in log directories or in directories of single replicas",
		Long: `Check every file of a log directory, of a directory of log directories, or of a single
replica: CRC of each batch and every record in it, offsets and leader epochs ascend,
indexes point to where batches begin and hold their last offsets, time indexes hold the
largest timestamps, transaction indexes and producer snapshots say what the batches
say, the epoch file and the checkpoints fit, and the files of the directory itself.

The first byte that is wrong is one line with file, position and reason. Behind a
process that was killed, what the next start mends is told as a note; with the marker
of a clean stop (.kafka_cleanshutdown) it is a fault.

Symbolic links are followed. A broker may be at work in the directory: each replica is
judged as it is at one moment, and what looks wrong is looked at again before it is
believed. Of several directories each is judged.

Exit status: 0 all are sound, 1 a fault, 2 bad usage or a directory that cannot be read,
that changes with every look, or that is no log directory.`,
		Args: someArgs("a directory"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o := inspect.Options{Now: kafka.Timestamp(time.Now().UnixMilli()), ProducerExpirationMs: expiration, Again: pause}
			return verifyAll(cmd, args, o, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object for each directory")
	cmd.Flags().Int64Var(&expiration, "producer.id.expiration.ms", 86400000, "the broker's: a producer that was silent for so long may be missing in snapshots")
	return cmd
}

// pause lets a broker finish what it is writing before it is looked at again.
func pause(try int) { time.Sleep(time.Duration(min(320, 10<<try)) * time.Millisecond) }

// someArgs wants one argument or more.
func someArgs(what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return usageError("name %s", what)
		}
		return nil
	}
}

// verified is the result of verify for a script.
type verified struct {
	Directory string `json:"directory"`
	Sound     bool   `json:"sound"`
	File      string `json:"file,omitempty"`
	Position  *int64 `json:"position,omitempty"` // bytes
	Reason    string `json:"reason,omitempty"`
	inspect.Summary
}

// verifyAll judges one directory after the other. A fault outweighs what cannot be judged.
func verifyAll(cmd *cobra.Command, dirs []string, o inspect.Options, asJSON bool) error {
	status := exitOK
	for _, dir := range dirs {
		err := verify(cmd.OutOrStdout(), dir, o, asJSON)
		var exit *exitError
		if err != nil && !errors.As(err, &exit) {
			return err
		}
		if exit == nil {
			continue
		}
		if exit.err != nil {
			fmt.Fprintln(cmd.ErrOrStderr(), "tidemark:", exit.err)
		}
		if status != exitViolation {
			status = exit.status
		}
	}
	if status == exitOK {
		return nil
	}
	return &exitError{status: status}
}

func verify(w io.Writer, dir string, o inspect.Options, asJSON bool) error {
	sum, err := verifyDir(dir, o)
	var fault *inspect.Fault
	if err != nil && !errors.As(err, &fault) {
		return usageError("%w", err)
	}
	if asJSON {
		v := verified{Directory: dir, Sound: err == nil, Summary: sum}
		if fault != nil {
			v.File, v.Position, v.Reason = fault.File, &fault.Position, fault.Reason
		}
		if v.Notes == nil {
			v.Notes = []inspect.Note{}
		}
		if err := printJSON(w, v); err != nil || fault == nil {
			return err
		}
		return &exitError{status: exitViolation}
	}
	if fault != nil {
		return &exitError{exitViolation, fault}
	}
	for _, n := range sum.Notes {
		fmt.Fprintln(w, "note:", n)
	}
	_, err = fmt.Fprintf(w, "%s is sound: %d replicas, %d segments, %d batches, %d records, %d bytes, %d index entries, %d producer snapshots\n",
		dir, sum.Replicas, sum.Segments, sum.Batches, sum.Records, sum.Bytes, sum.IndexEntries, sum.Snapshots)
	return err
}

// verifyDir checks a directory; that of a replica by what its log directory, which
// it lies in, tells of it.
func verifyDir(dir string, o inspect.Options) (inspect.Summary, error) {
	path, err := filepath.Abs(dir)
	if err != nil {
		return inspect.Summary{}, err
	}
	if _, ok := inspect.ReplicaOf(filepath.Base(path)); ok {
		if _, err := os.Stat(filepath.Join(filepath.Dir(path), identityFile)); err == nil {
			return inspect.VerifyReplica(osFiles{}, filepath.Dir(path), filepath.Base(path), o)
		}
	}
	sum, err := inspect.Verify(osFiles{}, dir, o)
	if err == nil && sum.Replicas == 0 && !formatted(path) {
		return sum, fmt.Errorf("%s is no log directory, nor are those in it: no %s, no replica", dir, identityFile)
	}
	return sum, err
}

// formatted tells that a directory, or one in it, is the log directory of a node, which
// need not hold replicas yet.
func formatted(dir string) bool {
	if _, err := os.Stat(filepath.Join(dir, identityFile)); err == nil {
		return true
	}
	entries, _ := os.ReadDir(dir)
	return slices.ContainsFunc(entries, func(e os.DirEntry) bool {
		_, err := os.Stat(filepath.Join(dir, e.Name(), identityFile))
		return err == nil
	})
}

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"tidemark/model/kafka"
	"tidemark/model/plan"
	"tidemark/scenarios"
)

// givenFlags are the settings that a command line brings along.
type givenFlags struct {
	set    []string
	config []string // files
}

func (g *givenFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringArrayVar(&g.set, "set", nil, "a Kafka setting, KEY=VALUE, over everything else; may be repeated")
	flags.StringArrayVar(&g.config, "config", nil, "a Kafka configuration FILE in .properties syntax; may be repeated, a later file wins")
}

// givenHelp explains both flags.
const givenHelp = `Settings: --set KEY=VALUE wins over what the plan says, as Kafka's --override does.
--config FILE reads server.properties, a producer's, consumer's or topic's
configuration, or all of them in one file; what it says holds where the lines of a
scenario say nothing (and over what a seed drew). A key is for all who have it in
Kafka: min.insync.replicas for brokers and topics, acks for producers; a prefix narrows
it down: topic.KEY, producer.KEY, consumer.KEY. Keys that tidemark does not model are
listed and ignored, values that Kafka would refuse are refused.
`

// ignoredKey is a line of a configuration file that has no effect.
type ignoredKey struct {
	File string `json:"file"`
	Line int    `json:"line"`
	Key  string `json:"key"`
	Why  string `json:"why"`
}

// Why a key is ignored.
const (
	notModelled = "not modelled"
	notKafka    = "not a key of Kafka 4"
)

// read checks the flags and reads the files. What is ignored is told on stderr,
// a line for each file.
func (g givenFlags) read(stderr io.Writer) (scenarios.Given, []ignoredKey, error) {
	var given scenarios.Given
	var err error
	if given.Set, err = g.settings(); err != nil {
		return given, nil, err
	}
	var ignored []ignoredKey
	for _, name := range g.config {
		settings, useless, err := readProperties("--config", name)
		if err != nil {
			return given, nil, err
		}
		given.Files = append(given.Files, settings...)
		ignored = append(ignored, useless...)
		tellIgnored(stderr, name, useless)
	}
	return given, ignored, nil
}

// settings are what --set says.
func (g givenFlags) settings() ([]plan.Setting, error) {
	var settings []plan.Setting
	for _, kv := range g.set {
		key, value, ok := strings.Cut(kv, "=")
		if !ok {
			return nil, usageError("--set %s: write KEY=VALUE", kv)
		}
		if err := kafka.CheckScoped(key, value); err != nil {
			return nil, badKey("--set", everyScope, key, err)
		}
		settings = append(settings, plan.Setting{Key: key, Value: value})
	}
	return settings, nil
}

// arguments writes the flags as a shell takes them.
func (g givenFlags) arguments() string {
	var b strings.Builder
	for _, name := range g.config {
		b.WriteString(" --config " + name)
	}
	for _, kv := range g.set {
		b.WriteString(" --set " + kv)
	}
	return b.String()
}

func tellIgnored(stderr io.Writer, name string, ignored []ignoredKey) {
	var words []string
	for _, why := range []string{notModelled, notKafka} {
		var keys []string
		for _, k := range ignored {
			if k.Why == why {
				keys = append(keys, fmt.Sprintf("%s (line %d)", k.Key, k.Line))
			}
		}
		if len(keys) > 0 {
			words = append(words, why+": "+strings.Join(keys, ", "))
		}
	}
	if len(words) > 0 {
		fmt.Fprintf(stderr, "tidemark: %s: ignored, %s\n", name, strings.Join(words, "; "))
	}
}

// readProperties reads the file that a flag names into the settings that tidemark
// obeys and the keys that it does not.
func readProperties(flag, name string) ([]plan.Setting, []ignoredKey, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, nil, usageError("%s %s cannot be read: %w", flag, name, errors.Unwrap(err))
	}
	properties, err := parseProperties(string(text))
	if err != nil {
		return nil, nil, usageError("%s:%w", name, err)
	}
	var settings []plan.Setting
	var ignored []ignoredKey
	for _, p := range properties {
		s, why, err := takeProperty(p)
		switch {
		case err != nil:
			return nil, nil, usageError("%s:%d: %w", name, p.line, err)
		case why != "":
			ignored = append(ignored, ignoredKey{name, p.line, p.key, why})
		default:
			settings = append(settings, s)
		}
	}
	return settings, ignored, nil
}

// takeProperty checks one line. It returns why the line has no effect, or a
// setting.
func takeProperty(p property) (s plan.Setting, why string, err error) {
	scopes, bare := kafka.Scoped(p.key)
	if scopes == 0 {
		if slices.Contains(kafkaKeys, p.key) || slices.Contains(kafkaKeys, bare) {
			return s, notModelled, nil
		}
		return s, notKafka, nil
	}
	d, _ := kafka.Lookup(scopes, bare)
	value := canonical(d, p.value)
	if bare == kafka.LogDirs {
		if value = simulatedDirs(value); value == "" {
			return s, notModelled, nil
		}
	}
	if err := refused(d, value); err != nil {
		return s, "", err
	}
	return plan.Setting{Key: p.key, Value: value, Line: p.line}, "", kafka.CheckScoped(p.key, value)
}

// simulatedDirs names as many log directories as a file lists: where they lie is a
// matter of the machine that the file is for. One is as good as none.
func simulatedDirs(value string) string {
	n := strings.Count(value, ",") + 1
	if n == 1 {
		return ""
	}
	names := make([]string, n)
	for i := range names {
		names[i] = "d" + strconv.Itoa(i)
	}
	return strings.Join(names, ",")
}

// canonical writes a value as tidemark does: Kafka trims every value, takes
// booleans in any case, and lists with blanks behind their commas.
func canonical(d kafka.Definition, value string) string {
	value = strings.TrimSpace(value)
	switch {
	case d.Type == kafka.BoolType:
		return strings.ToLower(value)
	case d.Type == kafka.TextType && d.Allowed != nil:
		items := strings.Split(value, ",")
		for i := range items {
			items[i] = strings.TrimSpace(items[i])
		}
		return strings.Join(items, ",")
	}
	return value
}

// leastSegmentBytes is Kafka's bound since KIP-1030; scenario files may go below
// it, for runs that roll segments often.
const leastSegmentBytes = 1 << 20

// refused applies the bounds that are Kafka's and not tidemark's.
func refused(d kafka.Definition, value string) error {
	if d.Key != kafka.SegmentBytes && d.Key != "log.segment.bytes" {
		return nil
	}
	if n, err := strconv.ParseInt(value, 10, 64); err == nil && n < leastSegmentBytes && n >= d.Min {
		return fmt.Errorf("%s: %s is not a valid value: allowed is a whole number from %d to %d (KIP-1030)", d.Key, value, leastSegmentBytes, d.Max)
	}
	return nil
}

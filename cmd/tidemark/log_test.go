package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// kafkaDir is a log directory that Apache Kafka wrote.
const kafkaDir = "../../node/storage/inspect/testdata/kafka-4.1"

// damaged is a copy of it with a wrong byte.
func damaged(t *testing.T) (dir, file string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "kafka")
	if err := os.CopyFS(dir, os.DirFS(kafkaDir)); err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(dir, "payments-0", "00000000000000000000.txnindex")
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	content[34+9]++ // of the second entry's producer id
	if err := os.WriteFile(file, content, 0o644); err != nil {
		t.Fatal(err)
	}
	return dir, file
}

func TestLogVerifySaysThatADirectoryIsSoundAndWhatWasLookedAt(t *testing.T) {
	status, out, errText := command(t, "log", "verify", kafkaDir)
	if status != exitOK || errText != "" || strings.Count(out, "\n") != 1 || !strings.Contains(out, " is sound: 6 replicas, 7 segments, 168 batches, 797 records, ") {
		t.Errorf("status %d, %q, %q", status, out, errText)
	}
	// One replica is checked by what the files of its log directory tell.
	status, out, errText = command(t, "log", "verify", kafkaDir+"/table-0")
	if status != exitOK || !strings.Contains(out, " is sound: 1 replicas, 2 segments, ") {
		t.Errorf("status %d, %q, %q", status, out, errText)
	}
}

func TestLogVerifyNamesTheFirstBadByteInOneLine(t *testing.T) {
	dir, file := damaged(t)
	status, out, errText := command(t, "log", "verify", dir)
	want := "tidemark: " + file + ": byte 36: producer id is 7, the abort marker at offset "
	if status != exitViolation || out != "" || !strings.HasPrefix(errText, want) || strings.Count(errText, "\n") != 1 {
		t.Errorf("status %d, %q, %q, want %q", status, out, errText, want)
	}
	status, out, errText = command(t, "log", "verify", "--json", dir)
	var v struct {
		Sound        bool
		File, Reason string
		Position     int64
		Replicas     int
	}
	if err := json.Unmarshal([]byte(out), &v); err != nil || status != exitViolation || errText != "" {
		t.Fatalf("status %d, %v, %q, %q", status, err, out, errText)
	}
	if v.Sound || v.File != file || v.Position != 36 || !strings.HasPrefix(v.Reason, "producer id is 7, ") || v.Replicas == 0 {
		t.Errorf("%+v", v)
	}
}

func TestLogVerifyJudgesEachOfSeveralDirectories(t *testing.T) {
	first, _ := damaged(t)
	second, file := damaged(t)
	status, out, errText := command(t, "log", "verify", first, "nosuch", kafkaDir, second)
	if status != exitViolation || !strings.Contains(out, kafkaDir+" is sound: ") || strings.Count(errText, "\n") != 3 || !strings.Contains(errText, file) {
		t.Errorf("status %d, %q, %q", status, out, errText)
	}
	status, out, _ = command(t, "log", "verify", "--json", first, kafkaDir)
	if status != exitViolation || strings.Count(out, `"sound"`) != 2 {
		t.Errorf("status %d, %q", status, out)
	}
}

func TestLogVerifyCallsNoDirectorySoundThatIsNoLogDirectory(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "src", "node"), 0o755); err != nil {
		t.Fatal(err)
	}
	status, out, errText := command(t, "log", "verify", dir)
	if status != exitUsage || out != "" || !strings.Contains(errText, " is no log directory") || strings.Count(errText, "\n") != 1 {
		t.Errorf("status %d, %q, %q", status, out, errText)
	}
	identity, err := os.ReadFile(filepath.Join(kafkaDir, identityFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, identityFile), identity, 0o644); err != nil {
		t.Fatal(err)
	}
	if status, out, errText = command(t, "log", "verify", dir); status != exitOK {
		t.Errorf("one that was formatted: status %d, %q, %q", status, out, errText)
	}
}

func TestLogTakesItsSubcommandsAlone(t *testing.T) {
	for _, args := range [][]string{{"log"}, {"log", "dmp"}} {
		if status, out, errText := command(t, args...); status != exitUsage || out != "" || strings.Count(errText, "\n") != 1 {
			t.Errorf("%q: status %d, %q, %q", args, status, out, errText)
		}
	}
}

func TestLogDumpPrintsEveryKindOfFile(t *testing.T) {
	status, out, errText := command(t, "log", "dump", kafkaDir)
	if status != exitOK || errText != "" {
		t.Fatalf("status %d, %q", status, errText)
	}
	for _, want := range []string{
		"Dumping " + filepath.Join(kafkaDir, "mixed-0", "00000000000000000000.log") + "\nLog starting offset: 0\nbaseOffset: 0 lastOffset: 19 count: 20 ",
		"\ntimestamp: ", "\nversion: 0 producerId: ", "\nproducerId: 0 producerEpoch: 0 coordinatorEpoch: -1 ", "\nepoch: 0 startOffset: 0\n",
		"\ntopic: table partition: 0 offset: 327\n", "\nnode.id: 1\n", "\nquorum-state: {",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("log dump of a directory has no %q", want)
		}
	}
	if strings.Contains(out, "\n| ") {
		t.Error("records are printed, though nobody asked for them")
	}
}

func TestLogDumpDecodesTheMetadataLog(t *testing.T) {
	log := kafkaDir + "/__cluster_metadata-0/00000000000000000000.log"
	status, out, errText := command(t, "log", "dump", "--json", "--deep-iteration", "--files", log)
	if status != exitOK {
		t.Fatalf("status %d, %q", status, errText)
	}
	var types []string
	for _, l := range strings.Split(strings.TrimSuffix(out, "\n"), "\n") {
		var e struct {
			File, Kind string
			Payload    struct {
				Type string
				Data map[string]any
			}
		}
		if err := json.Unmarshal([]byte(l), &e); err != nil || e.File != log {
			t.Fatalf("%v: %s", err, l)
		}
		if e.Kind == "record" && e.Payload.Type != "" {
			types = append(types, e.Payload.Type)
		}
	}
	all := strings.Join(types, " ")
	for _, want := range []string{"FEATURE_LEVEL_RECORD", "REGISTER_CONTROLLER_RECORD", "REGISTER_BROKER_RECORD", "TOPIC_RECORD", "PARTITION_RECORD", "PRODUCER_IDS_RECORD"} {
		if !strings.Contains(all, want) {
			t.Errorf("no %s in %s", want, all)
		}
	}
}

func TestLogRefusesWhatItCannotReadInOneLine(t *testing.T) {
	dir, file := damaged(t)
	if err := os.WriteFile(file, make([]byte, 33), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args   []string
		status int
		want   string
	}{
		{[]string{"log", "verify"}, exitUsage, "name a directory"},
		{[]string{"log", "verify", dir + "/nowhere"}, exitUsage, "no such file or directory"},
		{[]string{"log", "dump"}, exitUsage, "name files of log directories"},
		{[]string{"log", "dump", "log_test.go"}, exitUsage, "log_test.go: no file of a log directory"},
		{[]string{"log", "dump", dir + "/nowhere"}, exitUsage, "no such file or directory"},
		{[]string{"log", "dump", file}, exitViolation, file + ": byte 0: the file ends 33 bytes into an entry of 34 bytes"},
	} {
		status, _, errText := command(t, c.args...)
		if status != c.status || strings.Count(errText, c.want) != 1 || strings.Count(errText, "\n") > 1 {
			t.Errorf("%v: status %d, %q, want %d, %q", c.args, status, errText, c.status, c.want)
		}
	}
}

func TestLogDumpTellsOfAFileThatWentAndPrintsTheOthers(t *testing.T) {
	dir, file := damaged(t)
	gone := filepath.Join(dir, "mixed-0", "00000000000000000000.index")
	files, err := dumped([]string{dir})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(gone); err != nil { // a broker deletes it since its directory was read
		t.Fatal(err)
	}
	var out, notice strings.Builder
	if err := new(dumpFlags).dumpAll(&out, &notice, files); err != nil || notice.String() != gone+": went while its directory was read, not printed\n" {
		t.Errorf("%v, %q", err, notice.String())
	}
	if !strings.Contains(out.String(), "Dumping "+file+"\n") || strings.Contains(out.String(), gone) {
		t.Errorf("%q", out.String())
	}
	status, _, errText := command(t, "log", "dump", gone)
	if status != exitUsage || strings.Count(errText, "no such file or directory") != 1 {
		t.Errorf("status %d, %q", status, errText)
	}
}

// A node that went on with a log that it cannot replay would hold another image than
// whoever wrote it: nothing is touched.
func TestServeRefusesADirectoryOfApacheKafkaInOneLine(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "kafka")
	if err := os.CopyFS(dir, os.DirFS(kafkaDir)); err != nil {
		t.Fatal(err)
	}
	status, out, errText := command(t, "serve", "--node-id", "1", "--roles", "broker,controller", "--voters", "1@127.0.0.1:1", "--listen", "127.0.0.1:0", "--data", dir)
	want := "tidemark: " + dir + " is a directory of Apache Kafka's (00000000000000000000.log: offset 1: "
	if status != exitUsage || out != "" || !strings.HasPrefix(errText, want) || strings.Count(errText, "\n") != 1 {
		t.Errorf("status %d, %q, %q", status, out, errText)
	}
	status, out, _ = command(t, "log", "verify", dir)
	if status != exitOK || !strings.Contains(out, " is sound: 6 replicas, 7 segments, 168 batches, 797 records, ") {
		t.Errorf("after it: status %d, %q", status, out)
	}
}

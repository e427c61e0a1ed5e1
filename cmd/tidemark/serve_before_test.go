//go:build !js

package main

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// portInUse is one that is listened at, with free ones below it.
func portInUse(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l.Addr().(*net.TCPAddr).Port
}

func TestServeThatCannotBeginLeavesNothingBehind(t *testing.T) {
	port := portInUse(t)
	one := []string{"--node-id", "1", "--voters", "101@127.0.0.1:9990", "--cluster-id", testCluster}
	for _, c := range []struct {
		want string
		args []string
	}{
		{"--lanes is 0: 1 to 8 data lanes are possible", []string{"--lanes", "0"}},
		{"--lanes is 9: 1 to 8 data lanes are possible", []string{"--lanes", "9"}},
		{"--lanes is -1: 1 to 8 data lanes are possible", []string{"--lanes", "-1", "--brokers", "3"}},
		{"--lanes is 0: 1 to 8 data lanes are possible", append(one, "--lanes", "0")},
		{"bind: address already in use: stop what listens there", []string{"--listen", "127.0.0.1:" + strconv.Itoa(port)}},
		{"bind: address already in use: stop what listens there", append(one, "--listen", "127.0.0.1:"+strconv.Itoa(port))},
		{"bind: address already in use", []string{"--listen", "127.0.0.1:" + strconv.Itoa(port-1), "--brokers", "3"}},
		{"port 99999 is out of range, the largest is 65535", []string{"--listen", "127.0.0.1:99999"}},
		{"--advertise is \"h:99999\": port 99999 is out of range", []string{"--advertise", "h:99999"}},
		{"--advertise is \"nosuch:0\": nobody can connect to port 0", []string{"--advertise", "nosuch:0", "--listen", "127.0.0.1:0"}},
		{"--advertise is \"nosuch:0\": nobody can connect to port 0", append(one, "--advertise", "nosuch:0", "--listen", "127.0.0.1:0")},
	} {
		dir := t.TempDir()
		line(t, c.want, append(c.args, "--data", filepath.Join(dir, "d"), "--record", filepath.Join(dir, "r"))...)
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("serve %v left %v, error %v", c.args, left, err)
		}
	}
}

func TestDataThatIsAFileIsRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, data := range []string{file, filepath.Join(file, "below")} {
		line(t, "--data "+data+" is no directory", "--data", data, "--listen", "127.0.0.1:0")
		line(t, "--data "+data+" is no directory", "--data", data, "--node-id", "1", "--voters", "101@127.0.0.1:9990", "--cluster-id", testCluster)
	}
}

// Partitions of the brokers that are left out would miss their replicas.
func TestDirectoryOfMoreBrokersIsRefused(t *testing.T) {
	dir := t.TempDir()
	for _, id := range []string{"1", "2", "3"} {
		belongs(t, filepath.Join(dir, brokerDirs+id), id)
	}
	for _, brokers := range []string{"1", "2"} {
		line(t, "holds a cluster with broker-3, and --brokers is "+brokers+": give --brokers 3", "--brokers", brokers, "--data", dir, "--listen", "127.0.0.1:0")
	}
	for _, brokers := range []string{"3", "4"} {
		planOf(t, "--brokers", brokers, "--data", dir, "--listen", "127.0.0.1:0")
	}
}

package main

import (
	"os"
	"strconv"
	"strings"
	"time"
)

// processorTime is what a process has used, in user and in kernel mode, as Linux tells
// it in hundredths of a second; 0 where it does not.
func processorTime(pid string) time.Duration {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	if pid == "" || err != nil {
		return 0
	}
	// The name stands in parentheses and may hold anything. Of the fields behind it
	// the twelfth and the thirteenth are user and system time.
	fields := strings.Fields(string(stat)[strings.LastIndexByte(string(stat), ')')+1:])
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.ParseInt(fields[11], 10, 64)
	system, _ := strconv.ParseInt(fields[12], 10, 64)
	return time.Duration(user+system) * 10 * time.Millisecond
}

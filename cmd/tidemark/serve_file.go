//go:build !js

package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"

	"tidemark/model/kafka"
	"tidemark/node"
)

// serveFile is what a server.properties says beyond flags.
type serveFile struct {
	oneNode    bool // it names a node.id
	controller string
	pairs      []kafka.Pair
}

// takeFile reads --config. What it says of the node itself becomes the flag of
// that meaning, unless the flag is given too.
func (f *serveFlags) takeFile(given func(flag string) bool, stderr io.Writer) (serveFile, error) {
	var file serveFile
	if f.config == "" {
		return file, nil
	}
	text, err := os.ReadFile(f.config)
	if err != nil {
		return file, usageError("--config: %w", err)
	}
	properties, err := parseProperties(string(text))
	if err != nil {
		return file, usageError("%s:%w", f.config, err)
	}
	var ignored []ignoredKey
	for _, p := range properties {
		known, err := f.takeKey(given, &file, p.key, strings.TrimSpace(p.value))
		if err != nil {
			return file, usageError("%s:%d: %w", f.config, p.line, err)
		}
		if !known {
			why := notKafka
			if scopes, _ := kafka.Scoped(p.key); scopes != 0 || slices.Contains(kafkaKeys, p.key) {
				why = notModelled
			}
			ignored = append(ignored, ignoredKey{f.config, p.line, p.key, why})
		}
	}
	tellIgnored(stderr, f.config, ignored)
	return file, nil
}

// takeKey takes one line; false if it has no effect.
func (f *serveFlags) takeKey(given func(flag string) bool, file *serveFile, key, value string) (known bool, err error) {
	set := func(flag string, field *string, value string) {
		if !given(flag) {
			*field = value
		}
	}
	switch key {
	case "node.id":
		n, err := strconv.ParseInt(value, 10, 32)
		if err != nil || n < 0 {
			return true, fmt.Errorf("node.id: %s is not a valid value: allowed is a whole number from 0", value)
		}
		file.oneNode = true
		if !given("node-id") {
			f.nodeID = int32(n)
		}
	case "process.roles":
		set("roles", &f.roles, value)
	case "controller.quorum.voters":
		set("voters", &f.voters, value)
	case "log.dir", "log.dirs":
		if strings.Contains(value, ",") {
			return true, fmt.Errorf("%s: %s are several directories: give --data DIR and --set log.dirs=NAME,NAME, and they lie in DIR", key, value)
		}
		set("data", &f.data, value)
	case "listeners":
		return true, takeListeners(value, func(name, addr string) {
			if name == node.ControllerListener {
				file.controller = addr
			} else {
				set("listen", &f.listen, addr)
			}
		})
	case "advertised.listeners":
		return true, takeListeners(value, func(name, addr string) {
			if name == node.ClientListener {
				set("advertise", &f.advertise, addr)
			}
		})
	default:
		return f.takeBrokerKey(file, key, value)
	}
	return true, nil
}

// takeBrokerKey takes a key of brokers, as the simulation takes it.
func (f *serveFlags) takeBrokerKey(file *serveFile, key, value string) (known bool, err error) {
	d, ok := kafka.Lookup(kafka.BrokerScope, key)
	if !ok {
		return false, nil
	}
	value = canonical(d, value)
	if err := refused(d, value); err != nil {
		return true, err
	}
	file.pairs = append(file.pairs, kafka.Pair{Key: key, Value: value})
	return true, kafka.Check(kafka.BrokerScope, key, value)
}

// takeListeners reads NAME://HOST:PORT[,...]. A listener without host is on
// 127.0.0.1 here: nobody opens a test cluster to the network by leaving
// something out.
func takeListeners(value string, take func(name, addr string)) error {
	for l := range strings.SplitSeq(value, ",") {
		name, addr, ok := strings.Cut(strings.TrimSpace(l), "://")
		host, port, err := net.SplitHostPort(addr)
		if !ok || err != nil || name != node.ClientListener && name != node.ControllerListener {
			return fmt.Errorf("%q is no listener of tidemark: write %s://HOST:PORT or %s://HOST:PORT", l, node.ClientListener, node.ControllerListener)
		}
		if host == "" {
			host = "127.0.0.1"
		}
		take(name, net.JoinHostPort(host, port))
	}
	return nil
}

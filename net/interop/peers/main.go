// Command peers is what tidemark bench serve is measured beside: it runs
// franz-go's kfake, and it drives any broker with franz-go's client.
//
//	peers kfake [DIR]                 one broker, in memory or with its data in DIR
//	peers kgo SECONDS NAME=ADDR[,PID]...    produce to and consume from each in turn
package main

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/twmb/franz-go/pkg/kfake"
)

func main() {
	err := errors.New("usage: peers kfake [DIR] | peers kgo SECONDS NAME=ADDR[,PID]...")
	switch {
	case len(os.Args) >= 2 && os.Args[1] == "kfake":
		err = serveKfake(os.Args[2:])
	case len(os.Args) >= 4 && os.Args[1] == "kgo":
		err = drive(os.Args[2], os.Args[3:])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

// serveKfake runs until SIGTERM; its first line of output is its address.
func serveKfake(dir []string) error {
	opts := []kfake.Opt{kfake.NumBrokers(1)}
	if len(dir) > 0 {
		opts = append(opts, kfake.DataDir(dir[0]))
	}
	c, err := kfake.NewCluster(opts...)
	if err != nil {
		return err
	}
	defer c.Close()
	fmt.Println(c.ListenAddrs()[0])
	done := make(chan os.Signal, 1)
	signal.Notify(done, os.Interrupt, syscall.SIGTERM)
	<-done
	return nil
}

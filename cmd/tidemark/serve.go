//go:build !js

package main

import (
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

// realCommands are the commands that need sockets and files.
func realCommands() []*cobra.Command { return []*cobra.Command{newServe()} }

// realBenches are the measurements that need them.
func realBenches() []*cobra.Command {
	return []*cobra.Command{newBenchServe(), newBenchChecker(), newBenchStorage()}
}

// serveFlags are the flags of serve as they were given.
type serveFlags struct {
	brokers   int
	nodeID    int32
	roles     string
	voters    string
	clusterID string
	data      string
	listen    string
	advertise string
	lanes     int
	rules     string
	config    string
	set       []string
	record    string
}

func newServe() *cobra.Command { return serveCommand(new(serveFlags)) }

// serveCommand is the command that reads its flags into f.
func serveCommand(f *serveFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "run a Kafka cluster on real sockets and files",
		Long: `Run the state machines of the simulation as a Kafka cluster for any client, on TCP and
on files in Kafka's formats. One line tells when all brokers serve; SIGTERM or SIGINT
stops them as Kafka does, where a broker asks its controller for leave, for up to 5
minutes (a second signal ends them at once if it comes 1 s or more after the first; what
comes sooner is taken for the same). Brokers listen on 127.0.0.1 unless an address is
given.

  tidemark serve --brokers 3 --data d
      one controller and three brokers in this process: the first broker at
      --listen, the others at the ports behind it, the controller at the port behind
      these. Without --data the files are in a temporary directory that goes with the
      process. broker.session.timeout.ms is 1200 and broker.heartbeat.interval.ms 200
      here unless set, not 9000 and 2000: after kill -9 a controller takes no new life
      of a broker before the session of its last one is over. tidemark run FILE --from
      d starts a simulated cluster on a copy of d.

  tidemark serve --node-id 1 --roles broker --voters 101@127.0.0.1:9990 \
      --listen 127.0.0.1:9092 --cluster-id ID --data d1
      one node. --config server.properties says the same with Kafka's keys: node.id,
      process.roles, controller.quorum.voters, listeners, advertised.listeners,
      log.dirs and every broker key that tidemark has. Flags win over the file, --set
      wins over both. A controller listens where --voters says.

With --record FILE, tidemark replay FILE runs the same nodes again in the simulator and
compares. Every byte that they receive is in the file.

The garbage collector lets 16 MB and more become unused between two runs; GOGC and
GOMEMLIMIT set its pace instead.

Exit status: 0 stopped, 2 the cluster did not come to serve, 1 a node died later.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usageError("serve takes no argument, found %q", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			signals := make(chan os.Signal, 2)
			signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
			defer signal.Stop(signals)
			p, err := f.plan(cmd.Flags().Changed, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			return p.serve(cmd.OutOrStdout(), cmd.ErrOrStderr(), signals)
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&f.brokers, "brokers", 1, "brokers in this process, with a controller")
	flags.Int32Var(&f.nodeID, "node-id", 0, "run one node: its node.id, from 0")
	flags.StringVar(&f.roles, "roles", "broker", "process.roles of the one node: broker, controller or both, separated by a comma")
	flags.StringVar(&f.voters, "voters", "", "controller.quorum.voters of the one node, ID@HOST:PORT[,...]")
	flags.StringVar(&f.clusterID, "cluster-id", "", "cluster.id for a new directory, 22 characters; one that is in use knows its own")
	flags.StringVar(&f.data, "data", "", "directory of the logs; one for each node is made in it with --brokers")
	flags.StringVar(&f.listen, "listen", defaultListen, "address of the first broker, HOST:PORT; port 0 takes free ones")
	flags.StringVar(&f.advertise, "advertise", "", "address that clients and other brokers are told, HOST:PORT; HOST alone keeps the ports")
	flags.IntVar(&f.lanes, "lanes", 1, "data lanes of a broker, 1 to 8: threads that its partitions are spread over")
	flags.StringVar(&f.rules, "rules", "", "historical rules, SWITCH=VALUE[,...]; see tidemark rules")
	flags.StringVar(&f.config, "config", "", "server.properties of the one node, or of all brokers")
	flags.StringArrayVar(&f.set, "set", nil, "a broker setting, KEY=VALUE; may be repeated")
	flags.StringVar(&f.record, "record", "", "write everything that the nodes are given and do to FILE, for tidemark replay")
	return cmd
}

const defaultListen = "127.0.0.1:9092"

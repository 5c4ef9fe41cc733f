// Command devserver is a Temporal server on the loopback interface, for the tests of the host on Temporal. It is a module of its own, so that
// flowrun never links the server.
//
//	go build -C runner/engine/temporal/testdata/devserver -o /tmp/devserver .   # takes minutes
//	/tmp/devserver --port 7233
//
// It prints its address once it serves. It keeps its data in memory, or in the file that --db names: then it can be killed and started again.
package main

import (
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"go.temporal.io/server/common/authorization"
	"go.temporal.io/server/common/cluster"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/dynamicconfig"
	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/persistence/sql/sqlplugin/sqlite"
	schema "go.temporal.io/server/schema/sqlite"
	"go.temporal.io/server/temporal"
)

const loopback = "127.0.0.1"

func main() {
	port := flag.Int("port", 0, "port of the service; 0 means any free one")
	db := flag.String("db", "", "file of the database; without it the data is in memory")
	namespace := flag.String("namespace", "default", "namespace that is made, if it is not there")
	flag.Parse()
	if err := serve(*port, *db, *namespace); err != nil {
		fmt.Fprintln(os.Stderr, "devserver:", err)
		os.Exit(1)
	}
}

func serve(port int, db, namespace string) error {
	ports, err := freePorts(8)
	if err != nil {
		return err
	}
	if port != 0 {
		ports[0] = port
	}
	c, data := newConfig(ports, db)
	if _, err := os.Stat(db); db != "" && os.IsNotExist(err) {
		if err := schema.SetupSchema(data); err != nil {
			return err
		}
	}
	n, err := schema.NewNamespaceConfig("active", namespace, false, nil)
	if err == nil {
		err = schema.CreateNamespaces(data, n)
	}
	if err != nil {
		return err
	}
	s, err := temporal.NewServer(temporal.WithConfig(c), temporal.ForServices(temporal.DefaultServices), temporal.WithLogger(log.NewNoopLogger()),
		temporal.WithAuthorizer(authorization.NewNoopAuthorizer()),
		temporal.WithDynamicConfigClient(dynamicconfig.StaticClient{
			dynamicconfig.ForceSearchAttributesCacheRefreshOnRead.Key(): []dynamicconfig.ConstrainedValue{{Value: true}},
		}))
	if err == nil {
		err = s.Start()
	}
	if err != nil {
		return err
	}
	address := fmt.Sprintf("%s:%d", loopback, ports[0])
	for range 200 {
		if conn, err := net.DialTimeout("tcp", address, time.Second); err == nil {
			_ = conn.Close()
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	fmt.Println(address)
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	<-stop
	return s.Stop()
}

func newConfig(ports []int, db string) (*config.Config, *config.SQL) {
	data := &config.SQL{PluginName: sqlite.PluginName, DatabaseName: db, ConnectAttributes: map[string]string{"mode": "rwc"}}
	if db == "" {
		data.DatabaseName = fmt.Sprint("devserver", os.Getpid())
		data.ConnectAttributes = map[string]string{"mode": "memory", "cache": "shared"}
	}
	address := fmt.Sprintf("%s:%d", loopback, ports[0])
	c := &config.Config{
		Persistence: config.Persistence{DefaultStore: sqlite.PluginName, VisibilityStore: sqlite.PluginName, NumHistoryShards: 1,
			DataStores: map[string]config.DataStore{sqlite.PluginName: {SQL: data}}},
		ClusterMetadata: &cluster.Config{FailoverVersionIncrement: 10, MasterClusterName: "active", CurrentClusterName: "active",
			ClusterInformation: map[string]cluster.ClusterInformation{"active": {Enabled: true, InitialFailoverVersion: 1, RPCAddress: address}}},
		DCRedirectionPolicy: config.DCRedirectionPolicy{Policy: "noop"},
		PublicClient:        config.PublicClient{HostPort: address},
		Archival:            config.Archival{History: config.HistoryArchival{State: "disabled"}, Visibility: config.VisibilityArchival{State: "disabled"}},
		NamespaceDefaults: config.NamespaceDefaults{Archival: config.ArchivalNamespaceDefaults{
			History: config.HistoryArchivalNamespaceDefaults{State: "disabled"}, Visibility: config.VisibilityArchivalNamespaceDefaults{State: "disabled"}}},
		Services: map[string]config.Service{},
	}
	c.Global.Membership = config.Membership{MaxJoinDuration: 30 * time.Second, BroadcastAddress: loopback}
	for i, name := range []string{"frontend", "history", "matching", "worker"} {
		c.Services[name] = config.Service{RPC: config.RPC{GRPCPort: ports[2*i], MembershipPort: ports[2*i+1], BindOnIP: loopback}}
	}
	return c, data
}

// freePorts returns ports that are free now.
func freePorts(n int) (ports []int, err error) {
	for range n {
		l, err := net.Listen("tcp", loopback+":0")
		if err != nil {
			return nil, err
		}
		defer l.Close()
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}

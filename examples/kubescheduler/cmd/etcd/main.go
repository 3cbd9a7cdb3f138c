// Command etcd is one etcd on the loopback interface, with a free port and without
// peers. It prints its URL when it is ready, logs on standard error, and ends on
// SIGTERM or SIGINT.
package main

import (
	"flag"
	"fmt"
	"log"
	"net/url"
	"os"
	"os/signal"
	"syscall"

	"go.etcd.io/etcd/server/v3/embed"
)

func main() {
	dir := flag.String("data-dir", "", "the folder for the data")
	flag.Parse()
	if err := run(*dir); err != nil {
		log.Fatal(err)
	}
}

func run(dir string) error {
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, os.Interrupt, syscall.SIGTERM)
	cfg := embed.NewConfig()
	cfg.Dir = dir
	cfg.LogLevel = "warn"
	cfg.ListenPeerUrls = nil
	cfg.ListenClientUrls = []url.URL{{Scheme: "http", Host: "127.0.0.1:0"}}
	// What it holds is gone with it, so it need not be on the disk.
	cfg.UnsafeNoFsync = true
	server, err := embed.StartEtcd(cfg)
	if err != nil {
		return err
	}
	defer server.Close()
	select {
	case <-server.Server.ReadyNotify():
	case err := <-server.Err():
		return err
	case <-interrupted:
		return nil
	}
	fmt.Printf("http://%s\n", server.Clients[0].Addr())
	select {
	case err := <-server.Err():
		return err
	case <-interrupted:
		return nil
	}
}

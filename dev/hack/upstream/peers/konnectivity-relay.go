// Asks konnectivity's server over gRPC for a way to one address, for each connection to a Unix socket,
// as kube-apiserver does for each of its own: konnectivity-relay <server's socket> <socket> <address>
package main

import (
	"context"
	"io"
	"log"
	"net"
	"os"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"sigs.k8s.io/apiserver-network-proxy/konnectivity-client/pkg/client"
)

func main() {
	if len(os.Args) != 4 {
		log.Fatal("usage: konnectivity-relay <server's socket> <socket> <address>")
	}
	server, path, address := os.Args[1], os.Args[2], os.Args[3]
	listener, err := net.Listen("unix", path)
	if err != nil {
		log.Fatal(err)
	}
	for {
		connection, err := listener.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go relay(connection, server, address)
	}
}

func relay(connection net.Conn, server, address string) {
	defer connection.Close()
	background := context.Background()
	dial := grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", server)
	})
	plain := grpc.WithTransportCredentials(insecure.NewCredentials())
	tunnel, err := client.CreateSingleUseGrpcTunnelWithContext(background, background, "passthrough:///"+server, dial, plain)
	if err != nil {
		log.Print(err)
		return
	}
	remote, err := tunnel.DialContext(background, "tcp", address)
	if err != nil {
		log.Print(err)
		return
	}
	defer remote.Close()
	done := make(chan struct{}, 2)
	pass := func(to, from net.Conn) {
		_, _ = io.Copy(to, from)
		done <- struct{}{}
	}
	go pass(remote, connection)
	go pass(connection, remote)
	<-done
}

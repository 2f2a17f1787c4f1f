// A go-zeromq subscriber: go_zeromq ENDPOINT PREFIX prints the number of frames of each message, and its first frame.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/go-zeromq/zmq4"
)

func main() {
	socket := zmq4.NewSub(context.Background(), zmq4.WithAutomaticReconnect(true))
	if err := socket.Dial(os.Args[1]); err != nil {
		log.Fatal(err)
	}
	if err := socket.SetOption(zmq4.OptionSubscribe, os.Args[2]); err != nil {
		log.Fatal(err)
	}
	for {
		message, err := socket.Recv()
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(len(message.Frames), string(message.Frames[0]))
	}
}

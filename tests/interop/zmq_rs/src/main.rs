//! A zmq.rs subscriber: zmq_rs ENDPOINT PREFIX prints the number of frames of each message, and its first frame.
use zeromq::{Socket, SocketRecv};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let mut socket = zeromq::SubSocket::new();
    socket.connect(&arguments[1]).await?;
    socket.subscribe(&arguments[2]).await?;
    loop {
        let message = socket.recv().await?;
        println!("{} {}", message.len(), String::from_utf8_lossy(message.get(0).unwrap()));
    }
}

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;

/**
 * JeroMQ sockets controlled by a test through lines of text: each line is a command, and each reply is one line, "ok ..."
 * or "error ...". Payloads are numbered like those of telegate_peer.
 */
public final class JeromqPeer {
    private static final int WAIT_MS = 60_000;

    private final ZContext context = new ZContext();
    private final Map<String, ZMQ.Socket> sockets = new HashMap<>();

    public static void main(String[] arguments) throws Exception {
        JeromqPeer peer = new JeromqPeer();
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String answer;
            try {
                answer = "ok " + peer.obey(line.split(" "));
            } catch (RuntimeException | AssertionError problem) {
                answer = "error " + problem;
            }
            System.out.println(answer);
            System.out.flush();
        }
        peer.context.close();
    }

    private String obey(String[] words) {
        switch (words[0]) {
            case "keys":
                ZMQ.Curve.KeyPair pair = ZMQ.Curve.generateKeyPair();
                return pair.publicKey + " " + pair.secretKey;
            case "open":
                sockets.put(words[1], open(words));
                return "";
            default:
                return use(sockets.get(words[1]), words);
        }
    }

    /** open NAME KIND [option=value ...] */
    private ZMQ.Socket open(String[] words) {
        ZMQ.Socket socket = context.createSocket(SocketType.valueOf(words[2]));
        socket.setLinger(0);
        socket.setReceiveTimeOut(WAIT_MS);
        socket.setSendTimeOut(WAIT_MS);
        socket.setReconnectIVL(20);
        socket.setHWM(0);
        for (String word : Arrays.asList(words).subList(3, words.length)) {
            int equals = word.indexOf('=');
            set(socket, word.substring(0, equals), word.substring(equals + 1));
        }
        return socket;
    }

    private static void set(ZMQ.Socket socket, String option, String value) {
        switch (option) {
            case "identity": socket.setIdentity(bytes(value)); break;
            case "heartbeat_ms": socket.setHeartbeatIvl(Integer.parseInt(value)); break;
            case "heartbeat_timeout_ms": socket.setHeartbeatTimeout(Integer.parseInt(value)); break;
            case "curve_server_secret":
                socket.setCurveServer(true);
                socket.setCurveSecretKey(bytes(value));
                break;
            case "curve_server_key": socket.setCurveServerKey(bytes(value)); break;
            case "curve_public": socket.setCurvePublicKey(bytes(value)); break;
            case "curve_secret": socket.setCurveSecretKey(bytes(value)); break;
            default: throw new IllegalArgumentException(option);
        }
    }

    private String use(ZMQ.Socket socket, String[] words) {
        switch (words[0]) {
            case "bind":
                check(socket.bind(words[2]), "bind");
                return socket.getLastEndpoint();
            case "connect":
                check(socket.connect(words[2]), "connect");
                return "";
            case "disconnect":
                check(socket.disconnect(words[2]), "disconnect");
                return "";
            case "subscribe":
                socket.subscribe(bytes(words.length > 2 ? words[2] : ""));
                return "";
            case "unsubscribe":
                socket.unsubscribe(bytes(words.length > 2 ? words[2] : ""));
                return "";
            case "pump": // JeroMQ reports subscriptions only while the socket is used
                socket.getEvents();
                return "";
            case "send_text": // bytes in hexadecimal notation
                check(socket.send(HexFormat.of().parseHex(words[2])), "send");
                return "";
            case "send":
                send(socket, words);
                return "";
            case "receive":
                receive(socket, words);
                return "";
            case "receive_text":
                return receiveText(socket);
            case "echo":
                echo(socket, Long.parseLong(words[2]));
                return "";
            case "close":
                sockets.remove(words[1]).close();
                return "";
            default:
                throw new IllegalArgumentException(words[0]);
        }
    }

    /** send NAME FIRST COUNT SIZE [frame ...]: sends numbered messages, each after these frames; "-" is an empty frame. */
    private static void send(ZMQ.Socket socket, String[] words) {
        long first = Long.parseLong(words[2]);
        long count = Long.parseLong(words[3]);
        int size = Integer.parseInt(words[4]);
        for (long seq = first; seq < first + count; ++seq) {
            for (String frame : Arrays.asList(words).subList(5, words.length)) {
                check(socket.sendMore(bytes(frame)), "send");
            }
            check(socket.send(payload(seq, size)), "send");
        }
    }

    /** receive NAME FIRST COUNT SIZE FRAMES: receives numbered messages with this number of frames, in order. */
    private static void receive(ZMQ.Socket socket, String[] words) {
        long first = Long.parseLong(words[2]);
        long count = Long.parseLong(words[3]);
        int size = Integer.parseInt(words[4]);
        int frames = Integer.parseInt(words[5]);
        for (long seq = first; seq < first + count; ++seq) {
            byte[] frame = socket.recv();
            for (int index = 1; index < frames; ++index) {
                check(socket.hasReceiveMore(), "frames of message " + seq);
                frame = socket.recv();
            }
            check(!socket.hasReceiveMore(), "frames of message " + seq);
            check(Arrays.equals(frame, payload(seq, size)), "message " + seq);
        }
    }

    /** Returns the frames of one message in hexadecimal notation. */
    private static String receiveText(ZMQ.Socket socket) {
        StringBuilder text = new StringBuilder();
        do {
            byte[] frame = socket.recv();
            check(frame != null, "a message");
            text.append(HexFormat.of().formatHex(frame)).append(' ');
        } while (socket.hasReceiveMore());
        return text.toString().trim();
    }

    private static void echo(ZMQ.Socket socket, long count) {
        for (long done = 0; done < count; ++done) {
            boolean more;
            do {
                byte[] frame = socket.recv();
                check(frame != null, "message " + done);
                more = socket.hasReceiveMore();
                check(socket.send(frame, more ? ZMQ.SNDMORE : 0), "send");
            } while (more);
        }
    }

    private static byte[] payload(long seq, int size) {
        byte[] payload = new byte[size];
        Arrays.fill(payload, (byte) (seq % 251));
        ByteBuffer.wrap(payload).putLong(seq);
        return payload;
    }

    private static byte[] bytes(String word) {
        return word.equals("-") ? new byte[0] : word.getBytes(StandardCharsets.UTF_8);
    }

    private static void check(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what);
        }
    }
}

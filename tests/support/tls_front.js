// A front speaks HTTP/2 and HTTP/1.1 by TLS for a server that speaks neither. Its only line of output
// is its port; it ends with its input. Run by the Node that drives the browser: no other is needed.
const http = require('http'), http2 = require('http2'), net = require('net'), fs = require('fs');
const [pem, backend] = process.argv.slice(2);
const at = {host: '127.0.0.1', port: Number(backend)};
const kept = fs.readFileSync(pem);
const hop = /^(connection|keep-alive|transfer-encoding|upgrade|http2-settings|:.*)$/;

function handedOn(headers) {
  const kept = Object.entries(headers).filter(([name]) => !hop.test(name));
  return Object.fromEntries(kept);
}

const front = http2.createSecureServer({key: kept, cert: kept, allowHTTP1: true}, (asked, told) => {
  const headers = {...handedOn(asked.headers), 'x-protocol': asked.httpVersion};
  headers.host = asked.authority || asked.headers.host;
  const options = {...at, method: asked.method, path: asked.url, headers};
  const behind = http.request(options, (answer) => {
    told.writeHead(answer.statusCode, handedOn(answer.headers));
    answer.pipe(told);
  });
  behind.on('error', () => told.destroy());
  asked.on('error', () => behind.destroy());
  asked.pipe(behind);
});
front.on('upgrade', (asked, socket, head) => {
  const behind = net.connect(at, () => {
    const lines = asked.rawHeaders.map((each, n) => (n % 2 ? each + '\r\n' : each + ': '));
    behind.write(`GET ${asked.url} HTTP/1.1\r\n${lines.join('')}\r\n`);
    behind.write(head);
    socket.pipe(behind).pipe(socket);
  });
  behind.on('error', () => socket.destroy());
  socket.on('error', () => behind.destroy());
});
front.on('sessionError', () => {});
front.on('tlsClientError', () => {});
front.listen(0, '127.0.0.1', () => console.log(front.address().port));
process.stdin.on('end', () => process.exit(0)).resume();

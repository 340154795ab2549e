// Loaded before a gateway that would listen on every address, so that the benchmark is not reachable from other
// machines.
import { Server } from 'node:net';

const { listen } = Server.prototype;
Server.prototype.listen = function (port, ...rest) {
  const listening = rest.find((argument) => typeof argument === 'function');
  return listen.call(this, typeof port === 'object' ? port.port : port, '127.0.0.1', listening);
};

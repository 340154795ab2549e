/** Orders of the owner to a worker, and reports of a worker. */

/** From the owner. */
export const ORDER = {
  /** With a `Beginning`: opens the gateway. Answered when it is ready to serve. */
  begin: 'begin',
  /** With a `ListenOrder`: accepts connections. Answered with a `ListenReport`. */
  listen: 'listen',
  /** Serves: all workers accept connections. */
  serve: 'serve',
  /** Reloads gateway.yaml. Answered when that is done. */
  reload: 'reload',
  /** With a `StopOrder`: drains and ends. */
  stop: 'stop',
  /** Ends the drain. */
  hurry: 'hurry',
} as const;

/** From a worker. */
export const REPORT = {
  /** It receives messages: earlier ones are lost. */
  here: 'here',
  /** With its epoch: it will write to the store from now on. It waits for the answer: writers count as alive. */
  joined: 'joined',
} as const;

/** The start parameters of a worker. */
export interface Beginning {
  /** Starting at 1. */
  readonly number: number;
  /** The number of workers. */
  readonly count: number;
  readonly configFile: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The socket where the owner answers requests for routes. */
  readonly routes: string;
}

/** The address for clients. */
export interface ListenOrder {
  readonly host: string;
  readonly port: number;
}

/** Whether it listens; if not, node's error code. */
export interface ListenReport {
  readonly failed?: string;
}

/** How a worker ends. */
export interface StopOrder {
  /** New requests get the error that the gateway is shutting down; otherwise other workers serve them. */
  readonly withAll: boolean;
}

/** What the owner tells a worker to do, and what a worker reports. */

/** From the owner. */
export const ORDER = {
  /** With a `Beginning`: opens the gateway. Answered when it could serve. */
  begin: 'begin',
  /** With a `ListenOrder`: takes connections. Answered with a `ListenReport`. */
  listen: 'listen',
  /** Serves: all workers take connections. */
  serve: 'serve',
  /** Takes gateway.yaml over. Answered when that is done. */
  reload: 'reload',
  /** With a `StopOrder`: lets what runs come to its end, and ends. */
  stop: 'stop',
  /** Waits for nobody any longer. */
  hurry: 'hurry',
} as const;

/** From a worker. */
export const REPORT = {
  /** It hears: what is sent before is lost. */
  here: 'here',
  /** With its epoch: it may write to the store from now on. It waits for the answer: whoever writes counts as alive. */
  joined: 'joined',
} as const;

/** What a worker has to know. */
export interface Beginning {
  /** From 1. */
  readonly number: number;
  /** How many workers there are. */
  readonly count: number;
  readonly configFile: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The socket where the owner answers requests for routes. */
  readonly routes: string;
}

/** Where clients come. */
export interface ListenOrder {
  readonly host: string;
  readonly port: number;
}

/** Whether they can; where not, node's code for why. */
export interface ListenReport {
  readonly failed?: string;
}

/** How a worker ends. */
export interface StopOrder {
  /** Whoever comes meanwhile is told that the gateway ends; else others take all that comes. */
  readonly withAll: boolean;
}

/** The link between the owner and one worker: messages and queries, sent together if of one turn of the event loop. */
import type { Awaitable, Json } from '../plugin.ts';

/** The messages on the link. */
export type Message =
  | { readonly kind: 'tell'; readonly topic: string; readonly message: Json }
  | { readonly kind: 'ask'; readonly number: number; readonly topic: string; readonly message: Json }
  | { readonly kind: 'answer'; readonly number: number; readonly message: Json }
  | { readonly kind: 'failed'; readonly number: number; readonly reason: string };

/** One end of it. */
export interface Link {
  tell(topic: string, message: Json): void;
  /** Resolves with the answer; rejects if the other end failed, or has disconnected. */
  ask(topic: string, message: Json): Promise<Json>;
  /** Handles what the other end has sent. */
  receive(messages: readonly Message[]): void;
  /** The other end has disconnected. */
  end(): void;
}

/** Handles messages of the other end. An error it throws is sent there if an answer is expected, otherwise ignored. */
export type LinkHandler = (topic: string, message: Json) => Awaitable<Json | undefined>;

/** Creates one end; `send` transfers messages to the other. */
export function createLink(send: (messages: readonly Message[]) => void, handle: LinkHandler): Link {
  const pending = new Map<number, { resolve(answer: Json): void; reject(error: Error): void }>();
  let next = 0;
  let outgoing: Message[] = [];
  let isOver = false;

  function post(message: Message): void {
    if (isOver) return;
    if (outgoing.length === 0) setImmediate(flush);
    outgoing.push(message);
  }

  function flush(): void {
    const messages = outgoing;
    outgoing = [];
    if (!isOver) send(messages);
  }

  async function take(topic: string, message: Json): Promise<Json> {
    return (await handle(topic, message)) ?? null;
  }

  function receive(message: Message): void {
    switch (message.kind) {
      case 'tell':
        take(message.topic, message.message).catch(() => {});
        break;
      case 'ask': {
        const { number } = message;
        take(message.topic, message.message).then(
          (answer) => post({ kind: 'answer', number, message: answer }),
          (error: unknown) =>
            post({ kind: 'failed', number, reason: error instanceof Error ? error.message : String(error) }),
        );
        break;
      }
      case 'answer':
        pending.get(message.number)?.resolve(message.message);
        pending.delete(message.number);
        break;
      case 'failed':
        pending.get(message.number)?.reject(new Error(message.reason));
        pending.delete(message.number);
    }
  }

  return {
    tell: (topic, message) => post({ kind: 'tell', topic, message }),
    ask: (topic, message) =>
      new Promise((resolve, reject) => {
        if (isOver) throw new Error('the other process has ended');
        const number = next++;
        pending.set(number, { resolve, reject });
        post({ kind: 'ask', number, topic, message });
      }),
    receive(messages) {
      for (const message of messages) receive(message);
    },
    end() {
      isOver = true;
      for (const { reject } of pending.values()) reject(new Error('the other process has ended'));
      pending.clear();
    },
  };
}

/** The line between the owner and one worker: messages and questions, those of one turn of the event loop sent together. */
import type { Awaitable, Json } from '../plugin.ts';

/** What goes over it. */
export type Message =
  | { readonly kind: 'tell'; readonly topic: string; readonly message: Json }
  | { readonly kind: 'ask'; readonly number: number; readonly topic: string; readonly message: Json }
  | { readonly kind: 'answer'; readonly number: number; readonly message: Json }
  | { readonly kind: 'failed'; readonly number: number; readonly reason: string };

/** One end of it. */
export interface Link {
  tell(topic: string, message: Json): void;
  /** Resolves with the answer; rejects if the other end failed, or has gone. */
  ask(topic: string, message: Json): Promise<Json>;
  /** Takes what the other end has sent. */
  receive(messages: readonly Message[]): void;
  /** The other end has gone. */
  end(): void;
}

/** What one end does with what comes. What it throws is told to who asks, and to nobody where it was only told. */
export type LinkHandler = (topic: string, message: Json) => Awaitable<Json | undefined>;

/** Makes one end; `send` hands messages to the other. */
export function createLink(send: (messages: readonly Message[]) => void, handle: LinkHandler): Link {
  const asked = new Map<number, { resolve(answer: Json): void; reject(error: Error): void }>();
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
        asked.get(message.number)?.resolve(message.message);
        asked.delete(message.number);
        break;
      case 'failed':
        asked.get(message.number)?.reject(new Error(message.reason));
        asked.delete(message.number);
    }
  }

  return {
    tell: (topic, message) => post({ kind: 'tell', topic, message }),
    ask: (topic, message) =>
      new Promise((resolve, reject) => {
        if (isOver) throw new Error('the other process has gone');
        const number = next++;
        asked.set(number, { resolve, reject });
        post({ kind: 'ask', number, topic, message });
      }),
    receive(messages) {
      for (const message of messages) receive(message);
    },
    end() {
      isOver = true;
      for (const { reject } of asked.values()) reject(new Error('the other process has gone'));
      asked.clear();
    },
  };
}
